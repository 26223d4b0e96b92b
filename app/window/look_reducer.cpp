#include "app/window/look_reducer.h"

#include <algorithm>

#include "app/window/extent.h"
#include "app/window/sessions.h"

namespace headscope::app {

void scroll_to_start(UiState& s) {
  for (const OptionSpec* option : all_options())
    if (option->reset_on_prompt_change) s.options.set(*option, option->default_value);
}

void reduce(UiState& s, const SelectHead& a, const Snapshot& now) {
  const Extent e = extent(now);
  s.selection.layer = std::clamp(a.layer, 0, e.layers - 1);
  s.selection.head = std::clamp(a.head, 0, e.heads - 1);
}

void reduce(UiState& s, const MoveHead& a, const Snapshot& now) {
  reduce(s, SelectHead{s.selection.layer + a.layers, s.selection.head + a.heads}, now);
}

void reduce(UiState& s, const SelectQuery& a, const Snapshot& now) {
  const int length = extent(now).length;
  s.selection.query = a.position < 0 ? -1 : std::min(a.position, length - 1);
  scroll_to_start(s);
}

void reduce(UiState& s, const MoveQuery& a, const Snapshot& now) {
  const int last = extent(now).length - 1;
  const int from = s.selection.query < 0 ? last : std::min(s.selection.query, last);
  const int to = std::clamp(from + a.by, 0, last);
  reduce(s, SelectQuery{to == last && a.by > 0 ? -1 : to}, now);
}

void reduce(UiState& s, const SelectKey& a, const Snapshot& now) {
  s.selection.key = a.position < extent(now).keys ? a.position : -1;
}

void reduce(UiState& s, const ScrollField& a, const Snapshot&) {
  field_of(s, a.field).scroll = a.to;
}

void reduce(UiState& s, const TypeList& a, const Snapshot&) {
  s.typed_list = a.option;
  show_option_text(s);
}

void reduce(UiState& s, const BeginClick&, const Snapshot&) {
  s.edits.painting = false;
  s.selection_before = s.selection;
  s.options_before = s.options;
}

void reduce(UiState& s, const TakeBackClick&, const Snapshot&) {
  s.selection = s.selection_before;
  s.options = s.options_before;
  show_option_text(s);
}

}  // namespace headscope::app
