#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "system/atomic_file.h"

namespace headscope::testing {

/// Starts to replace a file in another process, and kills that before it has done so. Returns whether it went
/// so.
inline bool killed_while_writing(const std::filesystem::path& goal) {
  const pid_t child = ::fork();
  if (child == 0) {
    system::AtomicFile file(goal);
    file.resize(1 << 20);
    file.append("half");
    ::raise(SIGKILL);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFSIGNALED(status);
}

}  // namespace headscope::testing
