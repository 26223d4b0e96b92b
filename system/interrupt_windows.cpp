#include "system/interrupt.h"

#include <windows.h>

#include <atomic>

namespace headscope::system {
namespace {

constexpr int kNone = -1;                // CTRL_C_EVENT is 0
constexpr DWORD kControlC = 0xC000013A;  // how the system ends programs that have no handler

// Static, because the system passes its handler nothing else. It runs on a thread of its own.
std::atomic<int> received_event = kNone;
// Of all guards that are alive: an inner one keeps what an outer one has received, and tells for it.
int guards = 0;
bool told = false;

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
  if (guards++ > 0) return;
  received_event = kNone, told = false;
  ::SetConsoleCtrlHandler(remember, TRUE);
}

InterruptGuard::~InterruptGuard() {
  if (--guards > 0) return;
  ::SetConsoleCtrlHandler(remember, FALSE);
  if (received_event != kNone && !told) ::ExitProcess(kControlC);
}

bool InterruptGuard::interrupted() const {
  const bool received = received_event != kNone;  // once: the handler may set it in between
  told |= received;
  return received;
}

void InterruptGuard::check() const {
  if (interrupted()) throw Interrupted{received_event};
}

int end_by_signal(Interrupted /*interrupted*/) {
  return static_cast<int>(kControlC);
}

}  // namespace headscope::system
