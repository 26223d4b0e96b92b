#include "app/window/kept_sessions.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "app/recipe/recipe.h"

namespace headscope::app {
namespace {

constexpr int kMostSessions = 16;

/// A session's file that no open window holds.
struct FreeSession : EndedSession {
  system::File lock = {};
};

/// Waits briefly until no other window that starts holds the locks of all ended sessions.
system::File turn_to_look(const std::filesystem::path& folder) {
  try {
    system::File turn(folder / "windows.lock", system::Open::change);
    for (int i = 0; i < 200 && !turn.try_lock(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return turn;
  } catch (const std::system_error&) {
    return {};  // writing the session reports what is wrong
  }
}

}  // namespace

KeptSessions kept_sessions(const std::filesystem::path& folder) {
  if (folder.empty()) return {};
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  const system::File turn = turn_to_look(folder);
  std::vector<FreeSession> sessions;
  bool has_unused = false;
  for (int i = 1; i <= kMostSessions; ++i) {
    const std::filesystem::path name = folder / ("window-" + std::to_string(i));
    FreeSession session;
    session.file = name;
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
  for (FreeSession& session : sessions) kept.ended.push_back(std::move(session));
  return kept;
}

}  // namespace headscope::app
