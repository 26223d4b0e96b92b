#include "app/window/state/comparison.h"

#include <algorithm>
#include <utility>

#include "app/window/state.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

/// The run's position aligned with the baseline's `position`; -1: none.
int own_position(const PromptRun& run, int position) {
  const auto found = std::ranges::find(run.aligned, position);
  return position < 0 || found == run.aligned.end() ? -1 : static_cast<int>(found - run.aligned.begin());
}

}  // namespace

void reduce(UiState& s, const SetSide& a, ReduceContext&) {
  if (a.side != s.side) s.generation.running = false;  // of the side that was shown
  s.side = a.side;
}

bool continues_second(const UiState& state) {
  return state.side == Side::baseline && state.second.on && !state.second.is_file;
}

void reduce(UiState& s, const CompareWith& a, ReduceContext& w) {
  const auto& model = w.snapshot.model;
  const bool files = model && model->patterns;
  if (a.on && !s.second.on && (s.second.text.edit.text.empty() || s.second.is_file != files))
    s.second.text.edit = apply(make_text_state(files ? system::text_of(model->folder) : s.prompt.edit.text),
                               kSelectAll);  // typing replaces the text
  if (a.on) s.second.is_file = files;
  if (s.second.on != a.on) s.side = Side::run;  // a comparison starts at the first prompt
  s.second.on = a.on;
  s.second.alignment = a.alignment;
}

void reduce(UiState& s, const CompareModel& a, ReduceContext& w) {
  const auto& model = w.snapshot.model;
  if (!a.folder.empty() && model && model->patterns) {
    s.message = {missing(*model, Capability::weights), true};
    return;
  }
  s.side = Side::run;
  s.second.model = a.folder;
  ++s.second_request;
}

bool has_comparison(const UiState& state) {
  return state.second.is_set() || !state.edits.active().empty();
}

void end_mixed_comparison(UiState& state, const Snapshot& snapshot) {
  const bool patterns = snapshot.model && snapshot.model->patterns;
  if (patterns) state.second.model.clear();
  if (state.second.is_file == patterns) return;
  if (std::exchange(state.second.on, false)) state.side = Side::run;
}

ViewActions translate_to_run(ViewActions actions, const PromptRun& run) {
  ViewActions own;
  const auto is_gone = [&](int& position) {
    if (position < 0) return false;
    position = own_position(run, position);
    return position < 0;
  };
  for (ViewAction& action : actions) {
    if (auto* query = std::get_if<SelectQuery>(&action); query && is_gone(query->position)) continue;
    if (auto* key = std::get_if<SelectKey>(&action); key && is_gone(key->position)) continue;
    const auto* guess =
        std::get_if<AppendToken>(&action);  // a guess that names its prompt continues that prompt
    const bool goes_on = (guess && !guess->of) || std::holds_alternative<SetTokens>(action);
    const bool changes_a_run =
        (goes_on && !compares_one_prompt(run)) || std::holds_alternative<ToggleEdit>(action) ||
        std::holds_alternative<SetPositionId>(action) || std::holds_alternative<SetVisibility>(action) ||
        std::holds_alternative<DragEdit>(action);
    if (!changes_a_run) own.push_back(std::move(action));
  }
  return own;
}

}  // namespace headscope::app
