#include "app/window/state/view.h"

#include <algorithm>
#include <concepts>
#include <utility>

#include "app/views/view.h"
#include "app/window/state.h"

namespace headscope::app {
namespace {

/// Translates a view's actions from the baseline, which its picture showed, to the run: positions become the
/// aligned ones, and actions on positions that only the baseline has are dropped, which the message says.
ViewActions translate_to_run(ViewActions actions, const PromptRun& run, Message& message) {
  const auto translate = [&]<class T>(T& action) {  // returns whether the action means something in the run
    if constexpr (std::same_as<T, SelectQuery> || std::same_as<T, SelectKey>) {
      if (action.position < 0) return true;
      const auto found = std::ranges::find(run.aligned, action.position);
      action.position = static_cast<int>(found - run.aligned.begin());
      if (found == run.aligned.end())
        message = {"Tokens are chosen in the first prompt; this one has no counterpart there."};
      return found != run.aligned.end();
    } else if constexpr (std::same_as<T, AppendToken>) {
      return action.of || compares_one_prompt(run);  // a guess that names its prompt continues that prompt
    } else if constexpr (std::same_as<T, SetTokens>) {
      return compares_one_prompt(run);
    } else {
      return !(std::same_as<T, ToggleEdit> || std::same_as<T, SetPositionId> ||
               std::same_as<T, SetVisibility> || std::same_as<T, DragEdit>);
    }
  };
  ViewActions own;
  for (ViewAction& action : actions)
    if (std::visit(translate, action)) own.push_back(std::move(action));
  return own;
}

}  // namespace

void reduce(UiState& s, const PlayOption& a, ReduceContext&) {
  s.playing = s.playing == a.option ? nullptr : a.option;
  if (s.playing != nullptr) s.options.set(*s.playing, s.playing->low);
}

void reduce(UiState& s, const PlayNext&, ReduceContext&) {
  const OptionSpec* option = s.playing;
  const double next = std::get<double>(s.options.value(*option)) + 1;
  const auto has_option = [&](const View* view) { return std::ranges::count(view->options, option) > 0; };
  const bool goes_on = std::ranges::any_of(shown_tabs(s), has_option) && next <= option->high;
  if (goes_on) s.options.set(*option, next);
  if (!goes_on || next == option->high) s.playing = nullptr;
}

Extent extent(const Snapshot& snapshot) {
  Extent e;
  if (snapshot.run) {
    const auto& run = *snapshot.run->run;
    e = {run.config.n_layer, run.config.n_head, run.length(), key_count(*snapshot.run)};
  }
  if (snapshot.model) {  // its run may be pending
    const model::Config config = snapshot.model->config();
    e.layers = config.n_layer, e.heads = config.n_head;
  }
  return e;
}

void scroll_to_start(ViewSlice& s) {
  for (const View& view : views())
    for (const OptionSpec* option : view.options)
      if (option->reset_on_prompt_change) s.options.set(*option, option->default_value);
}

void reduce(ViewSlice& s, const SelectHead& a, ReduceContext& w) {
  const Extent e = extent(w.snapshot);
  s.selection.layer = std::clamp(a.layer, 0, e.layers - 1);
  s.selection.head = std::clamp(a.head, 0, e.heads - 1);
}

void reduce(ViewSlice& s, const MoveHead& a, ReduceContext& w) {
  reduce(s, SelectHead{s.selection.layer + a.layers, s.selection.head + a.heads}, w);
  w.is_move = true;
}

void reduce(ViewSlice& s, const SelectQuery& a, ReduceContext& w) {
  s.selection.query = a.position < 0 ? -1 : std::min(a.position, extent(w.snapshot).length - 1);
  scroll_to_start(s);
}

void reduce(ViewSlice& s, const MoveQuery& a, ReduceContext& w) {
  const int last = extent(w.snapshot).length - 1;
  const int from = s.selection.query < 0 ? last : std::min(s.selection.query, last);
  const int to = std::clamp(from + a.by, 0, last);
  reduce(s, SelectQuery{to == last && a.by > 0 ? -1 : to}, w);
  w.is_move = true;
}

void reduce(ViewSlice& s, const SelectKey& a, ReduceContext& w) {
  s.selection.key = a.position < extent(w.snapshot).keys ? a.position : -1;
}

void reduce(ViewSlice& s, const SetOption& a, ReduceContext&) {
  s.options.set(*a.option, a.value);
  if (s.playing == a.option) s.playing = nullptr;
  if (option_in_field(s) == a.option) show_option_text(s);
}

/// A view that is already in the other pane swaps places with this pane's.
void reduce(ViewSlice& s, const ShowView& a, ReduceContext&) {
  const View* view = find_view(a.id);
  if (!view || view->place != Place::tab) return;
  std::string& here = a.second_pane ? s.second_view : s.view;
  std::string& there = a.second_pane ? s.view : s.second_view;
  if (there == view->id) there = here.empty() ? next_tab(view->id, 1) : here;
  here = view->id;
  s.playing = nullptr;
}

void reduce(ViewSlice& s, const ShowPart& a, ReduceContext& w) {
  if (const View* view = view_of(a.part)) reduce(s, ShowView{std::string(view->id)}, w);
}

void reduce(ViewSlice& s, const StepView& a, ReduceContext& w) {
  std::string id = next_tab(s.view, a.by);
  if (id == s.second_view) id = next_tab(id, a.by);
  reduce(s, ShowView{std::move(id)}, w);
  w.is_move = true;
}

void reduce(ViewSlice& s, const Revisit& a, ReduceContext& w) {
  w.is_no_visit = true;
  const auto there = s.visits.step(a.forward, s);
  if (!there) return;
  s.view = there->view, s.second_view = there->second_view;
  reduce(s, SelectHead{there->selection.layer, there->selection.head}, w);
  reduce(s, SelectQuery{there->selection.query}, w);
  reduce(s, SelectKey{there->selection.key}, w);
}

void reduce(UiState& s, const DoAll& a, ReduceContext& w) {
  const auto& run = w.snapshot.run;
  const bool of_another = a.side == Side::baseline && run && compares_different_inputs(*run);
  const ViewActions actions = of_another ? translate_to_run(a.actions, *run, s.message) : a.actions;
  w.is_same_move = a.key_held;
  for (const ViewAction& action : actions) std::visit([&](const auto& one) { reduce(s, one, w); }, action);
}

void reduce(UiState& s, const BeginClick&, ReduceContext&) {
  s.edits_bar.dragging = false;
  s.selection_before = s.selection;
  s.options_before = s.options;
}

/// Back passes over what both clicks selected.
void reduce(ViewSlice& s, const UndoClick&, ReduceContext& w) {
  s.options = s.options_before;
  s.playing = nullptr;
  w.is_no_visit = true;
  if (s.selection == s.selection_before) return;
  s.selection = s.selection_before;
  s.visits.after.clear();
  if (!s.visits.before.empty() && s.visits.before.back() == view_state(s)) s.visits.before.pop_back();
}

std::string next_tab(std::string_view id, int by) {
  const auto all = tabs();
  const auto at = std::ranges::find(all, id, &View::id) - all.begin();
  const auto count = std::ssize(all);
  return std::string(all[((at + by) % count + count) % count]->id);
}

std::string tab_of_attention(const std::string& id) {
  const auto of_patterns = [](const View* view) { return view->can_be_made_of(Capability::patterns); };
  if (of_patterns(find_view(id))) return id;
  const auto all = tabs();
  return std::string((*std::ranges::find_if(all, of_patterns))->id);
}

std::vector<const View*> shown_tabs(const ViewSlice& state) {
  std::vector<const View*> shown{find_view(state.view)};
  if (!state.second_view.empty()) shown.push_back(find_view(state.second_view));
  return shown;
}

std::vector<const OptionSpec*> options_shown_with(const View& view) {
  std::vector<const OptionSpec*> shown = view.options;
  if (view.place != Place::tab) return shown;
  for (const Place place : {Place::left, Place::right})
    for (const OptionSpec* always : view_at(place).options) std::erase(shown, always);
  return shown;
}

bool has_effect(const View& view, const OptionSpec& option, const UiState& state, const Snapshot& snapshot) {
  const bool has_weights = !snapshot.model || !snapshot.model->patterns;
  const bool is_set = state.options.value(option) != option.default_value;
  return (has_weights || !option.of_weights) && (state.prompts || is_set || !option.of_list) &&
         has_effect(view, option, state.options) &&
         !token_comes_from_list(view, option, state.options, state.prompts.get());
}

const OptionSpec* option_in_field(const ViewSlice& state) {
  const OptionSpec* first = nullptr;
  for (const View* view : shown_tabs(state)) {
    for (const OptionSpec* option : view->options) {
      if (!takes_text(*option)) continue;
      if (option == state.last_in_field) return option;
      if (!first) first = option;
    }
  }
  return first;
}

void show_option_text(ViewSlice& state) {
  const OptionSpec* option = option_in_field(state);
  if (!option) return;
  const OptionValue& value = state.options.value(*option);
  state.option_problem = "";
  state.option_text = {make_text_state(value == option->default_value ? "" : to_text(*option, value))};
}

void set_typed_option(ViewSlice& state) {
  const OptionSpec* option = option_in_field(state);
  if (!option) return;
  std::string_view text = state.option_text.edit.text;
  // After a comma the next number of a list is about to be typed.
  if (std::holds_alternative<std::vector<int>>(option->default_value))
    text = text.substr(0, text.find_last_not_of(", ") + 1);
  state.option_problem = "";
  try {
    state.options.set(*option, text.empty() ? option->default_value : parse_option(*option, text));
  } catch (const std::invalid_argument&) {
    state.option_problem = expected(*option);
  }
}

float within_limits(float font_size) {
  constexpr float kSmallest = 9, kLargest = 32;
  return std::clamp(font_size, kSmallest, kLargest);
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
