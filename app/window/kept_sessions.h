#pragma once
#include <filesystem>
#include <vector>

#include "system/file.h"

namespace headscope::app {

/// What a window kept that was closed or killed.
struct EndedSession {
  std::filesystem::path file;
  std::filesystem::file_time_type written = {};  ///< the earliest time: never
};

/// The sessions that windows keep in the state folder. Each has a file of its own, locked by another one
/// while its window is open: two windows never write the same session, and one without a lock is of a window
/// that was closed or killed.
struct KeptSessions {
  std::filesystem::path own = {};        ///< the file of this window; empty: too many windows are open
  std::vector<EndedSession> ended = {};  ///< those without a lock, the last one first
  system::File lock = {};                ///< of `own`, held while this lives
};

/// Takes an unused file for a new window; if there is none, that of the session that ended first. Never
/// throws.
KeptSessions kept_sessions(const std::filesystem::path& folder);

}  // namespace headscope::app
