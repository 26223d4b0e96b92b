#pragma once
#include <span>
#include <string>
#include <string_view>

#include "app/views/view.h"

namespace headscope::app {

/// What the panes show and Back restores.
struct ViewState {
  std::string view, second_view;
  Selection selection;
  bool operator==(const ViewState&) const = default;
};

/// What a stop asks the user to do before going on; not enforced. A new one is a row of waits().
struct Wait {
  std::string_view name;     ///< after "wait:" in a tour's file
  std::string_view request;  ///< shown at the stop
  bool (*is_done)(const ViewState& entered, const ViewState& now);
  /// Whether the model and the prompt allow it: there may be no other head or token.
  bool (*is_possible)(const ViewContext& context);
  bool needs_heads = false;  ///< it needs the heads pane, which is then shown at any width
};

std::span<const Wait> waits();
/// Null if there is no such wait.
const Wait* find_wait(std::string_view name);

}  // namespace headscope::app
