#pragma once
#include <string_view>

#include "app/views/view.h"

namespace headscope::app {

/// What a stop of a tour points at: an outline is drawn around it.
struct TourPoint {
  enum class Kind { landmark, pane, option, prompt, edits };
  Kind kind = Kind::pane;
  const View* view = nullptr;          ///< whose picture or pane it is; null: none
  const Landmark* landmark = nullptr;  ///< one of the view's
  const OptionSpec* option = nullptr;  ///< an option whose control is in the view's pane
};

/// Parses a landmark of this view (null: of none) or of a side pane, "pane view", "pane next", "option
/// strips", "prompt" or "edits". Throws std::invalid_argument: what was expected and what was found.
TourPoint parse_point(std::string_view text, const View* view);

}  // namespace headscope::app
