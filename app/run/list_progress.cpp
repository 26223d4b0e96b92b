#include "app/run/list_progress.h"

#include <cstdint>

#include "app/counted.h"

namespace headscope::app {

std::string skipped_words(const ListProgress& progress) {
  if (progress.skipped == 0) return "";
  const auto skipped = static_cast<std::int64_t>(progress.skipped);
  return grouped(skipped) + " of " + counted(static_cast<std::int64_t>(progress.done), "prompt") +
         (skipped == 1 ? " was skipped: " : " were skipped, the first because: ") + progress.problem;
}

}  // namespace headscope::app
