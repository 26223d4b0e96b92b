#include "system/interrupt.h"

#include <windows.h>

#include <atomic>

namespace headscope::system {
namespace {

constexpr int kNone = -1;  // CTRL_C_EVENT is 0

// Static, because the system passes its handler nothing else. It runs on a thread of its own.
std::atomic<int> received_event = kNone;

BOOL WINAPI remember(DWORD event) {
  int none = kNone;
  if (!received_event.compare_exchange_strong(none, static_cast<int>(event))) return FALSE;
  // The system ends the program some seconds after a console was closed, or as soon as this returns.
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) ::Sleep(INFINITE);
  return TRUE;
}

}  // namespace

struct InterruptGuard::Previous {};

InterruptGuard::InterruptGuard() {
  received_event = kNone;
  ::SetConsoleCtrlHandler(remember, TRUE);
}

InterruptGuard::~InterruptGuard() {
  ::SetConsoleCtrlHandler(remember, FALSE);
}

bool InterruptGuard::interrupted() const {
  return received_event != kNone;
}

void InterruptGuard::check() const {
  if (interrupted()) throw Interrupted{received_event};
}

int end_by_signal(Interrupted /*interrupted*/) {
  constexpr DWORD kControlC = 0xC000013A;  // how the system ends programs that have no handler
  return static_cast<int>(kControlC);
}

}  // namespace headscope::system
