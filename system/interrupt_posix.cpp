#include "system/interrupt.h"

#include <array>
#include <csignal>

namespace headscope::system {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

// Static, because a signal handler cannot reach anything else.
volatile std::sig_atomic_t received_signal = 0;
// Of all guards that are alive: an inner one keeps what an outer one has received, and tells for it.
int guards = 0;
bool told = false;

void remember(int signal) {
  received_signal = signal;
}

}  // namespace

struct InterruptGuard::Previous {
  std::array<struct sigaction, kSignals.size()> actions{};
};

InterruptGuard::InterruptGuard() : previous_(std::make_unique<Previous>()) {
  if (guards++ == 0) received_signal = 0, told = false;
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction& before = previous_->actions[i];
    ::sigaction(kSignals[i], nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);  // keeps nohup working
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &previous_->actions[i], nullptr);
  if (--guards == 0 && received_signal != 0 && !told) std::raise(received_signal);
}

bool InterruptGuard::interrupted() const {
  const bool received = received_signal != 0;  // once: the handler may set it in between
  told |= received;
  return received;
}

void InterruptGuard::check() const {
  if (interrupted()) throw Interrupted{received_signal};
}

int end_by_signal(Interrupted interrupted) {
  std::signal(interrupted.signal, SIG_DFL);
  std::raise(interrupted.signal);
  return 1;
}

}  // namespace headscope::system
