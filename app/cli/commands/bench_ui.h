#pragma once
#include <string>
#include <vector>

#include "app/cli/arguments/arguments.h"
#include "app/run/prompt_run.h"

namespace headscope::app {

/// Of a view that is opened, once, after those before it in the order of the tabs, in seconds.
struct ViewTiming {
  std::string id;
  double first = 0;  ///< until the window shows it, or that it is being computed
  double whole = 0;  ///< until all of it is there
  double frame = 0;  ///< a frame then
};

/// What a user waits for, in seconds: from an action until the whole window is drawn with all that it asked
/// for, up to the triangles that a graphics card is given. Medians.
struct WindowTiming {
  int tokens = 0;
  double at_the_end = 0;          ///< a letter typed at the end
  double at_the_end_longest = 0;  ///< the slowest of them
  double at_the_start = 0;        ///< the first letter changed: everything is computed again
  double other_head = 0;          ///< another head of the same prompt
  double head_off = 0;            ///< a head switched off
  double settled_frame = 0;       ///< nothing: a frame when everything is there
  std::vector<ViewTiming> views = {};
};

/// Works in a window without a window, of 1600 x 1000 pixels, with prompts of about so many tokens. Throws
/// std::runtime_error with the window's sentence when something fails.
std::vector<WindowTiming> measure_window(const LoadedModel& model, const ModelArguments& arguments,
                                         const std::vector<int>& lengths);

}  // namespace headscope::app
