#include "system/interrupt.h"

#include <array>
#include <atomic>

#ifdef _WIN32
#include <windows.h>
#else
#include <csignal>
#endif

namespace headscope::system {
namespace {

constexpr int kNone = -1;  // Windows' CTRL_C_EVENT is 0

// Static, because a handler of the system cannot reach anything else.
std::atomic<int> received = kNone;
// Of all guards that are alive: an inner one keeps what an outer one has received, and tells for it.
int guards = 0;
bool told = false;

#ifdef _WIN32

/// Runs on a thread of its own.
BOOL WINAPI remember(DWORD event) {
  int none = kNone;
  if (!received.compare_exchange_strong(none, static_cast<int>(event))) return FALSE;
  // The system ends the program some seconds after a console was closed, or as soon as this returns.
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) ::Sleep(INFINITE);
  return TRUE;
}

void set_handlers(bool ours) {
  ::SetConsoleCtrlHandler(remember, ours);
}

#else

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

void remember(int signal) {
  std::signal(signal, SIG_DFL);  // a second one ends the program
  received = signal;
}

/// Ours, or those before. What is ignored stays so at all times, which keeps nohup working.
void set_handlers(bool ours) {
  static std::array<struct sigaction, kSignals.size()> before;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (ours) ::sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) std::signal(kSignals[i], ours ? remember : before[i].sa_handler);
  }
}

#endif

}  // namespace

InterruptGuard::InterruptGuard() {
  if (guards++ > 0) return;
  received = kNone;
  told = false;
  set_handlers(true);
}

InterruptGuard::~InterruptGuard() {
  if (--guards > 0) return;
  set_handlers(false);
  if (received != kNone && !told) static_cast<void>(end_by_signal({received}));
}

bool InterruptGuard::interrupted() const {
  const bool has_arrived = received != kNone;  // once: the handler may set it in between
  told |= has_arrived;
  return has_arrived;
}

void InterruptGuard::check() const {
  if (interrupted()) throw Interrupted{received};
}

int end_by_signal([[maybe_unused]] Interrupted interrupted) {
#ifdef _WIN32
  ::ExitProcess(STATUS_CONTROL_C_EXIT);  // as the system ends programs that have no handler
#else
  std::signal(interrupted.signal, SIG_DFL);
  std::raise(interrupted.signal);
  return 1;
#endif
}

}  // namespace headscope::system
