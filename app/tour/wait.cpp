#include "app/tour/wait.h"

#include <algorithm>

namespace headscope::app {

std::span<const Wait> waits() {
  static constexpr Wait kWaits[] = {
      {"head", "Now choose another head.",
       [](const ViewState& entered, const ViewState& now) {
         return now.selection.layer != entered.selection.layer ||
                now.selection.head != entered.selection.head;
       },
       true},
      {"query", "Now click another token.",
       [](const ViewState& entered, const ViewState& now) {
         return now.selection.query != entered.selection.query;
       }},
      {"key", "Now click a key.",
       [](const ViewState& entered, const ViewState& now) {
         return now.selection.key != entered.selection.key;
       }},
      {"view", "Now open another view.",
       [](const ViewState& entered, const ViewState& now) { return now.view != entered.view; }},
  };
  return kWaits;
}

const Wait* find_wait(std::string_view name) {
  const auto found = std::ranges::find(waits(), name, &Wait::name);
  return found == waits().end() ? nullptr : &*found;
}

}  // namespace headscope::app
