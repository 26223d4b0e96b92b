#include "app/cli/work_line.h"

#include <ostream>

#include "app/cli/commands/engine.h"

namespace headscope::app {

void WorkLine::tell(std::string_view work, double done) {
  const auto now = std::chrono::steady_clock::now();
  if (now - said_ < pause_) return;
  said_ = now;
  const std::string text = "headscope: " + where_ + std::string(work) + format(": %.0f %% done", 100 * done);
  if (!line_.show(text)) streams_.err << text << '\n' << std::flush;
}

}  // namespace headscope::app
