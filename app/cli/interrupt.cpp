#include "app/cli/interrupt.h"

namespace headscope::app {
namespace {

// Static, because a signal handler cannot reach anything else.
volatile std::sig_atomic_t signal_that_came = 0;

void remember(int signal) {
  signal_that_came = signal;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  signal_that_came = 0;
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &previous_actions_[i]);
    if (previous_actions_[i].sa_handler != SIG_IGN)
      ::sigaction(kSignals[i], &action, nullptr);  // keeps nohup working
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &previous_actions_[i], nullptr);
}

bool InterruptGuard::interrupted() const {
  return signal_that_came != 0;
}

void InterruptGuard::check() const {
  if (interrupted()) throw Interrupted{signal_that_came};
}

int end_by_signal(Interrupted interrupted) {
  std::signal(interrupted.signal, SIG_DFL);
  std::raise(interrupted.signal);
  return 1;
}

}  // namespace headscope::app
