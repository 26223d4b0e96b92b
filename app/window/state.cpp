#include "app/window/state.h"

#include <algorithm>
#include <concepts>
#include <iterator>
#include <string_view>
#include <utility>

#include "app/run/edits/edit_list.h"

namespace headscope::app {
namespace {

constexpr int kNoStep = -1;

/// The kind of an action's step in the history of Back. Consecutive steps of one kind, as by arrow keys,
/// count as one; 0: the step stands alone.
struct StepKind {
  int operator()(const MoveHead&) const { return 1; }
  int operator()(const MoveQuery&) const { return 2; }
  int operator()(const StepView&) const { return 3; }
  int operator()(const DoAll& a) const {
    int kind = 0, steps = 0;
    for (const ViewAction& action : a.actions) {
      if (std::holds_alternative<SetOption>(action)) continue;  // includes scrolling the picture
      kind = std::visit(*this, action);
      if (kind == kNoStep) return kind;
      ++steps;
    }
    return steps == 1 ? kind : 0;
  }
  template <class T>
  int operator()(const T&) const {
    constexpr bool kNone = std::same_as<T, TypeInField> || std::same_as<T, AppendToken> ||
                           std::same_as<T, SetTokens> || std::same_as<T, Generate> || std::same_as<T, Undo> ||
                           std::same_as<T, Revisit> || std::same_as<T, ModelOpened>;
    return kNone ? kNoStep : 0;
  }
};

/// Adds the view state before an action to the history. A held key adds one step, an undone click none.
void remember_visit(ViewSlice& state, ViewState before, const Action& action) {
  const int step_kind = action.visit(StepKind());
  if (step_kind == kNoStep || view_state(state) == before) return;
  Visits& visits = state.visits;
  const auto* all = action.get_if<DoAll>();
  const bool extends =
      visits.after.empty() && ((step_kind != 0 && visits.step_kind == step_kind) || (all && all->key_held));
  visits.step_kind = step_kind;
  if (action.get_if<UndoClick>()) {
    visits.after.clear();
    if (!visits.before.empty() && visits.before.back() == view_state(state)) visits.before.pop_back();
    return;
  }
  visits.add(std::move(before), extends, [](const ViewState&) { return sizeof(ViewState); });
}

}  // namespace

std::vector<Effect> apply_to(UiState& state, const Action& action, const Snapshot& snapshot) {
  ViewState seen = view_state(state);
  Document before = document_of(state);
  ReduceContext context{snapshot};
  action.visit([&](const auto& a) { reduce(state, a, context); });
  if (view_state(state) != seen) state.edits.problem.clear();  // it was about another view state
  const bool is_edited_text = !context.is_other_text && !action.get_if<Undo>();
  if (is_edited_text && has_positions(before.edits) && state.edits.list == before.edits)
    move_with_tokens(state, {before.prompt.text, before.ids, before.start_token}, snapshot);
  remember_change(state, std::move(before), context);
  remember_visit(state, std::move(seen), action);
  return std::move(context.effects);
}

Update apply(UiState state, const Action& action, const Snapshot& snapshot) {
  std::vector<Effect> effects = apply_to(state, action, snapshot);
  return {std::move(state), std::move(effects)};
}

namespace {

/// One text field of the window. A new one is an enumerator and a row here.
struct FieldRow {
  Field field;
  std::string_view name;
  Dialog dialog;  ///< the dialog that opens with the caret in it; none: of no dialog, or not its first field
  TextField& (*of)(UiState&);
};

constexpr FieldRow kFieldRows[] = {
    {Field::prompt, "prompt", Dialog::none, [](UiState& s) -> TextField& { return s.prompt; }},
    {Field::option, "value", Dialog::none, [](UiState& s) -> TextField& { return s.option_text; }},
    {Field::export_path, "file", Dialog::export_,
     [](UiState& s) -> TextField& { return s.export_form.path; }},
    {Field::export_size, "size of the picture", Dialog::none,
     [](UiState& s) -> TextField& { return s.export_form.size; }},
    {Field::open_path, "folder", Dialog::open, [](UiState& s) -> TextField& { return s.open_form.path; }},
    {Field::edits, "edit", Dialog::none, [](UiState& s) -> TextField& { return s.edits.typed; }},
    {Field::second, "second prompt", Dialog::none, [](UiState& s) -> TextField& { return s.second.text; }},
    {Field::session_path, "session", Dialog::save, [](UiState& s) -> TextField& { return s.save_form.path; }},
    {Field::help, "search the help", Dialog::help,
     [](UiState& s) -> TextField& { return s.help_form.search; }},
    {Field::palette, "command", Dialog::palette, [](UiState& s) -> TextField& { return s.palette.search; }},
};
static_assert(std::size(kFieldRows) == kFields);
static_assert([] {
  for (std::size_t i = 0; i < kFields; ++i)
    if (kFieldRows[i].field != static_cast<Field>(i)) return false;
  return true;
}());

}  // namespace

TextField& field_of(UiState& state, Field field) {
  return kFieldRows[static_cast<std::size_t>(field)].of(state);
}

std::string_view name_of(Field field) {
  return kFieldRows[static_cast<std::size_t>(field)].name;
}

Field first_field(Dialog dialog) {
  if (dialog == Dialog::none) return Field::prompt;
  return std::ranges::find(kFieldRows, dialog, &FieldRow::dialog)->field;
}

const TextField& field_of(const UiState& state, Field field) {
  return field_of(const_cast<UiState&>(state), field);
}

Prompt prompt_of(const UiState& state) {
  Prompt prompt = typed_prompt(state);
  prompt.edits = state.edits.list.active();
  if (state.second.model.empty())
    std::erase_if(prompt.edits, [](const auto& edit) { return model::patches_from_second(edit); });
  return prompt;
}

WorkerRequest wanted(const UiState& state, std::vector<Question> questions) {
  WorkerRequest wanted{.model = state.model,
                       .load_request = state.load_request,
                       .load_cancel = state.load_cancel,
                       .prompt = prompt_of(state),
                       .questions = std::move(questions)};
  wanted.second_model = state.second.model;
  wanted.second_request = state.second.request;
  if (state.second.on) {
    wanted.second = Prompt{state.second.text.edit.text, {}, state.start_token};
  } else if (!state.second.model.empty()) {
    wanted.second = typed_prompt(state);
  }
  wanted.alignment = state.second.alignment;
  return wanted;
}

}  // namespace headscope::app
