#include "system/console.h"

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "system/calls.h"

#ifdef _WIN32
#include <windows.h>

// The C library's own start of programs calls it. CommandLineToArgvW, which does the same, is of the
// desktop's library, which takes longer to start than the program does.
extern "C" int __wgetmainargs(int* count, wchar_t*** words, wchar_t*** environment, int expand,  // NOLINT
                              int* new_mode);
#else
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>
#endif

namespace headscope::system {
namespace {

/// Standard input, output or error: 0, 1 or 2.
File standard_stream(int number) {
#ifdef _WIN32
  return File::borrowed(
      reinterpret_cast<File::Handle>(::GetStdHandle(STD_INPUT_HANDLE - static_cast<DWORD>(number))));
#else
  return File::borrowed(number);
#endif
}

}  // namespace

void prepare_standard_streams() {
#ifdef _WIN32
  ::SetConsoleOutputCP(CP_UTF8);
  for (const File& stream : {standard_output(), standard_error()}) {
    DWORD mode = 0;
    if (::GetConsoleMode(handle_of(stream), &mode))
      ::SetConsoleMode(handle_of(stream), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
  }
#else
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // 0 and 1 are opened with the wrong direction on purpose, so that reading or writing fails as on a closed
    // descriptor. Messages may be lost.
    const int flags = descriptor == 1 ? O_RDONLY : O_WRONLY;
    if (::open("/dev/null", flags) != descriptor) return;  // nothing more can be done here
  }
#endif
}

File standard_input() {
  return standard_stream(0);
}

File standard_output() {
  return standard_stream(1);
}

File standard_error() {
  return standard_stream(2);
}

File without_name(const File& stream) {
#ifndef _WIN32
  const int copy = ::fcntl(number(stream), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (copy >= 0) return File::owned(copy);
#endif
  return File::borrowed(stream.handle());
}

void hide_standard_streams() {
#ifndef _WIN32
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0) return;
  ::dup2(nothing, STDIN_FILENO);
  ::close(nothing);
#endif
}

bool is_terminal(const File& file) {
#ifdef _WIN32
  DWORD mode = 0;
  return ::GetConsoleMode(handle_of(file), &mode) != 0;
#else
  return ::isatty(number(file)) == 1;
#endif
}

std::size_t terminal_columns() {
  int columns = 0;
#ifdef _WIN32
  CONSOLE_SCREEN_BUFFER_INFO screen{};
  if (::GetConsoleScreenBufferInfo(handle_of(standard_error()), &screen))
    columns = screen.srWindow.Right - screen.srWindow.Left + 1;
#else
  struct winsize size {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
#endif
  return columns > 1 ? static_cast<std::size_t>(columns) : 80;
}

std::vector<std::string> program_arguments([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
#ifdef _WIN32
  int count = 0, new_mode = 0;
  wchar_t **words = nullptr, **environment = nullptr;
  constexpr int kNoWildcards = 0;
  if (::__wgetmainargs(&count, &words, &environment, kNoWildcards, &new_mode) < 0)
    throw std::runtime_error("cannot read the command line");
  std::vector<std::string> arguments;
  for (int i = 1; i < count; ++i) arguments.push_back(utf8(words[i]));
  return arguments;
#else
  return {argv + (argc > 0 ? 1 : 0), argv + argc};
#endif
}

void leave_own_console() {
#ifdef _WIN32
  DWORD processes[2];
  if (::GetConsoleProcessList(processes, 2) == 1) ::FreeConsole();
#endif
}

void end_with_message(int status, std::initializer_list<std::string_view> parts) noexcept {
  try {
    for (const std::string_view part : parts) standard_error().write(part);
  } catch (const std::exception&) {  // nothing more can be said
  }
  std::_Exit(status);
}

}  // namespace headscope::system
