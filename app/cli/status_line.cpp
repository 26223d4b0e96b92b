#include "app/cli/status_line.h"

#include <ostream>

#include "app/cli/engine.h"
#include "app/text/output_text.h"
#include "system/console.h"

namespace headscope::app {

void StatusLine::tell(std::string_view text) {
  if (streams_.err_is_terminal) {
    const std::size_t width = system::terminal_columns() - 1;  // the cursor needs a cell
    streams_.err << '\r' << terminal_safe(text).substr(0, width) << "\x1b[K" << std::flush;
    shown_ = true;
  } else {
    streams_.err << text << '\n' << std::flush;
  }
}

void StatusLine::tell_work(std::string_view where, std::string_view work, double done) {
  if (is_due())
    tell("headscope: " + std::string(where) + std::string(work) + format(": %.0f %% done", 100 * done));
}

bool StatusLine::is_due() {
  const auto now = std::chrono::steady_clock::now();
  if (now - said_ < pause_) return false;
  said_ = now;
  return true;
}

void StatusLine::clear() {
  if (shown_) streams_.err << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace headscope::app
