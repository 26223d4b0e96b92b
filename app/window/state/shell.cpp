#include "app/window/state/shell.h"

#include <algorithm>

#include "app/window/state.h"

namespace headscope::app {

float within_limits(float font_size) {
  constexpr float kSmallest = 9, kLargest = 32;
  return std::clamp(font_size, kSmallest, kLargest);
}

PaneSizes within_limits(const PaneSizes& panes) {
  static constexpr float kNarrowest = 180;
  const auto clamped = [](float width) { return width > 0 ? std::clamp(width, kNarrowest, kWidestPane) : 0; };
  return {clamped(panes.heads), clamped(panes.next), clamped(panes.second_view)};
}

void reduce(UiState& s, const SetFontSize& a, ReduceContext&) {
  const float before = s.font_size;
  s.font_size = within_limits(a.size);
  s.prompt.scroll *= s.font_size / before;  // keeps the same lines visible
}

void reduce(UiState& s, const ShowMessage& a, ReduceContext&) {
  s.message = {a.text, a.is_error, a.from_worker};
  if (a.is_error) s.generation.running = false;
}

}  // namespace headscope::app
