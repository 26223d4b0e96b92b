#include "app/window/state/shell.h"

#include <algorithm>

#include "app/window/state.h"

namespace headscope::app {

void reduce(ShellSlice& s, const SetDark& a, World& w) {
  s.dark = a.dark;
  w.save();
}

void reduce(UiState& s, const SetFontSize& a, World& w) {
  const float before = s.font_size;
  s.font_size = std::clamp(a.size, kSmallestFont, kLargestFont);
  s.prompt.scroll *= s.font_size / before;  // keeps the same lines visible
  w.save();
}

void reduce(ShellSlice& s, const SetPanes& a, World& w) {
  const auto clamped = [](float width) {
    return width > 0 ? std::clamp(width, kNarrowestPane, kWidestPane) : 0;
  };
  s.panes = {clamped(a.panes.heads), clamped(a.panes.next), clamped(a.panes.second_view)};
  if (a.done) w.save();
}

void reduce(UiState& s, const ShowMessage& a, World&) {
  s.message = {a.text, a.is_error, a.from_worker};
  if (a.is_error) s.generation.running = false;
}

}  // namespace headscope::app
