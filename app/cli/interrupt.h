#pragma once
#include <array>
#include <csignal>

namespace headscope::app {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP does not end the program but is remembered, so that
/// work in progress can clean up after itself; the second one ends it. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  bool interrupted() const;  ///< a signal came
  /// Throws Interrupted when a signal came.
  void check() const;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> previous_actions_{};
};

/// The work was given up because of a signal. Whoever ends the program does it by that signal: see
/// `end_by_signal`.
struct Interrupted {
  int signal = 0;
};

/// Ends the program as the signal would have done. Returns the exit status for the case that the signal is
/// ignored.
int end_by_signal(Interrupted interrupted);

}  // namespace headscope::app
