#include "system/console.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>

#include "system/posix_calls.h"

namespace headscope::system {

void prepare_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // 0 and 1 are opened with the wrong direction on purpose, so that reading or writing fails as on a closed
    // descriptor. Messages may be lost.
    const int flags = descriptor == 1 ? O_RDONLY : O_WRONLY;
    if (::open("/dev/null", flags) != descriptor) return;  // nothing more can be done here
  }
}

File standard_input() {
  return File::borrowed(STDIN_FILENO);
}

File standard_output() {
  return File::borrowed(STDOUT_FILENO);
}

File standard_error() {
  return File::borrowed(STDERR_FILENO);
}

File without_name(const File& stream) {
  const int copy = ::fcntl(number(stream), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  return copy < 0 ? File::borrowed(number(stream)) : File::owned(copy);
}

void hide_standard_streams() {
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0) return;
  ::dup2(nothing, STDIN_FILENO);
  ::close(nothing);
}

bool is_terminal(const File& file) {
  return ::isatty(number(file)) == 1;
}

std::size_t terminal_columns() {
  struct winsize size {};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col : 80;
}

std::vector<std::string> program_arguments(int argc, char** argv) {
  return {argv + (argc > 0 ? 1 : 0), argv + argc};
}

void leave_own_console() {}

void end_with_message(int status, std::initializer_list<std::string_view> parts) noexcept {
  for (const std::string_view part : parts)
    if (::write(STDERR_FILENO, part.data(), part.size()) < 0) break;
  ::_exit(status);
}

}  // namespace headscope::system
