#pragma once
#include <string>
#include <vector>

#include "app/recipe/recipe.h"
#include "app/window/state/slice.h"

namespace headscope::app {

// Clamped to the limits of the window. A width of 0 stays: the window chooses.
float within_limits(float font_size);
PaneSizes within_limits(const PaneSizes& panes);

/// The window's message. Information disappears after a while, an error when its cause is gone.
struct Message {
  std::string text;  ///< empty: nothing
  bool is_error = false;
  bool from_worker = false;  ///< about a load or a run; removed when one succeeds
};

/// The window itself: its look, its message.
struct ShellSlice {
  bool dark = false;
  float font_size = kDefaultFontSize;
  PaneSizes panes;
  Message message;
  std::vector<std::string> closed_warnings;  ///< of models: those that are no longer shown
  bool quit = false;                         ///< the window closes
};

struct SetFontSize {
  float size = kDefaultFontSize;
};
struct ShowMessage {  ///< an empty text: none
  std::string text;
  bool is_error = false;
  bool from_worker = false;
};

void reduce(UiState& s, const SetFontSize& a, ReduceContext& w);
void reduce(UiState& s, const ShowMessage& a, ReduceContext& w);

}  // namespace headscope::app
