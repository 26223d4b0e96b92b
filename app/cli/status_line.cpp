#include "app/cli/status_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <ostream>

#include "app/text/shown.h"

namespace headscope::app {
namespace {

/// Of the terminal, less the place of the cursor behind the text.
std::size_t width() {
  struct winsize size {};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col - 1U : 79U;
}

}  // namespace

bool StatusLine::show(std::string_view text) {
  if (!streams_.err_is_terminal) return false;
  streams_.err << '\r' << shown(text).substr(0, width()) << "\x1b[K" << std::flush;
  shown_ = true;
  return true;
}

void StatusLine::clear() {
  if (shown_) streams_.err << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace headscope::app
