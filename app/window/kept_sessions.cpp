#include "app/window/kept_sessions.h"

#include <algorithm>
#include <functional>
#include <string>
#include <system_error>
#include <utility>

#include "app/recipe/recipe.h"

namespace headscope::app {
namespace {

constexpr int kMostSessions = 16;

/// A session's file that no open window holds.
struct FreeSession {
  std::filesystem::path file;
  std::filesystem::file_time_type written = {};  ///< the earliest time: never
  system::File lock = {};
};

}  // namespace

KeptSessions kept_sessions(const std::filesystem::path& folder) {
  if (folder.empty()) return {};
  std::error_code ignored;  // writing the session reports what is wrong
  std::filesystem::create_directories(folder, ignored);
  std::vector<FreeSession> sessions;
  bool has_unused = false;
  for (int i = 1; i <= kMostSessions; ++i) {
    const std::filesystem::path name = folder / ("window-" + std::to_string(i));
    FreeSession session{.file = name};
    session.file += kSessionExtension;
    const bool is_unused = !system::is_file(session.file);
    if (is_unused && has_unused) continue;
    try {
      session.lock = system::File(std::filesystem::path(name) += ".lock", system::Open::change);
      if (!session.lock.try_lock()) continue;
    } catch (const std::system_error&) {  // better kept without a lock than not at all
    }
    session.written = std::filesystem::last_write_time(session.file, ignored);
    has_unused |= is_unused;
    sessions.push_back(std::move(session));
  }
  if (sessions.empty()) return {};
  std::ranges::sort(sessions, std::greater(), &FreeSession::written);
  KeptSessions kept{.own = std::move(sessions.back().file), .lock = std::move(sessions.back().lock)};
  sessions.pop_back();
  for (FreeSession& session : sessions) kept.ended.push_back(std::move(session.file));
  return kept;
}

}  // namespace headscope::app
