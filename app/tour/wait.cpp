#include "app/tour/wait.h"

#include <algorithm>

namespace headscope::app {

std::span<const Wait> waits() {
  static constexpr Wait kWaits[] = {
      {"head", "Now choose another head.",
       [](const ViewState& a, const ViewState& b) {
         return a.selection.layer != b.selection.layer || a.selection.head != b.selection.head;
       },
       [](const ViewContext& c) {
         const model::Config config = c.run->model->config();
         return config.n_layer * config.n_head > 1;
       },
       true},
      {"query", "Now click another token.",
       [](const ViewState& a, const ViewState& b) { return a.selection.query != b.selection.query; },
       [](const ViewContext& c) { return c.run->tokens.run_length > 1; }},
      {"key", "Now click a key.",
       [](const ViewState& a, const ViewState& b) { return a.selection.key != b.selection.key; },
       [](const ViewContext&) { return true; }},
      {"view", "Now open another view.",
       [](const ViewState& a, const ViewState& b) { return a.view != b.view; },
       [](const ViewContext&) { return true; }},
  };
  return kWaits;
}

const Wait* find_wait(std::string_view name) {
  const auto found = std::ranges::find(waits(), name, &Wait::name);
  return found == waits().end() ? nullptr : &*found;
}

}  // namespace headscope::app
