#pragma once
#include <span>
#include <string>
#include <string_view>

#include "app/views/view.h"

namespace headscope::app {

/// What is looked at, as far as going back brings it back.
struct ViewState {
  std::string view, beside;
  Selection selection;
  bool operator==(const ViewState&) const = default;
};

/// What somebody is to do at a stop before going on. Nobody is held up: it is asked, not demanded. A new one
/// is a row of waits().
struct Wait {
  std::string_view name;   ///< after "wait:" in a tour's file
  std::string_view asked;  ///< what the stop says
  bool (*done)(const ViewState& entered, const ViewState& now);
  bool in_heads = false;  ///< it is done in the pane of heads, which is then there in any width
};

std::span<const Wait> waits();
/// Null where there is none of that name.
const Wait* find_wait(std::string_view name);

}  // namespace headscope::app
