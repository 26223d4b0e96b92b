#pragma once
#include <vector>

#include "app/cli.h"
#include "app/data.h"

namespace headscope::app {

/// From a changed prompt to the pictures of it, through the worker, as in the window; in seconds.
struct KeystrokeTiming {
  int tokens = 0;
  double at_the_end = 0;          ///< median, letters typed at the end
  double at_the_end_longest = 0;  ///< the slowest of them
  double at_the_start = 0;        ///< median, the first letter changed: everything is computed again
};

/// Types into prompts of about so many tokens and waits each time until the heatmap, the chips and the next
/// tokens of the new prompt are scenes. Throws std::runtime_error with the worker's sentence when that fails.
std::vector<KeystrokeTiming> measure_keystrokes(const LoadedModel& model, const ModelArguments& arguments,
                                                const std::vector<int>& lengths);

}  // namespace headscope::app
