#pragma once

namespace headscope::system {

/// While alive, remembers the first request to end the program (Ctrl+C, SIGTERM or SIGHUP; on Windows Ctrl+C,
/// Ctrl+Break or a closed console) instead of following it, so that work in progress can clean up; a second
/// one ends the program. A request that no member has told of is followed in the destructor, so that none is
/// lost between the last check and the end of the work. An inner one tells for an outer one, too.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  bool interrupted() const;  ///< a request has arrived
  /// Throws Interrupted if a request has arrived.
  void check() const;
};

/// Work was stopped because of a signal. The program should end by that signal: see `end_by_signal`.
struct Interrupted {
  int signal = 0;
};

/// Ends the program as the signal would have. Returns the exit status in case the signal is ignored.
int end_by_signal(Interrupted interrupted);

}  // namespace headscope::system
