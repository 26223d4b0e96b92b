#pragma once
#include <array>
#include <csignal>

namespace headscope::app {

/// While alive, remembers the first SIGINT, SIGTERM or SIGHUP instead of ending the program, so that work in
/// progress can clean up; a second signal ends it. At most one instance.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  bool interrupted() const;  ///< a signal has arrived
  /// Throws Interrupted if a signal has arrived.
  void check() const;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> previous_actions_{};
};

/// Work was stopped because of a signal. The program should end by that signal: see `end_by_signal`.
struct Interrupted {
  int signal = 0;
};

/// Ends the program as the signal would have. Returns the exit status in case the signal is ignored.
int end_by_signal(Interrupted interrupted);

}  // namespace headscope::app
