#include "app/window/state.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "app/run/edits/edit_list.h"

namespace headscope::app {
namespace {

/// Adds the view state before an action to the history. Returns whether it differs.
bool remember_visit(ViewSlice& s, ViewState before, const ReduceContext& w) {
  const int parts = moved_parts(before, s);
  if (parts == 0 || w.is_no_visit || w.is_no_step) return parts != 0;
  const int before_moved = std::exchange(s.visits.parts, w.is_move ? parts : 0);
  const bool extends = s.visits.after.empty() && (w.is_same_move || (w.is_move && before_moved == parts));
  s.visits.add(std::move(before), extends, [](const ViewState&) { return sizeof(ViewState); });
  return true;
}

}  // namespace

std::vector<Effect> apply_to(UiState& state, const Action& action, const Snapshot& snapshot) {
  ViewState seen = state;
  Document before = state;
  state.message.is_former = true;
  const Side side = state.side;
  const bool compared = has_comparison(state);
  const auto shown_option = [&] {
    const OptionSpec* option = option_in_field(state);
    return std::tuple(state.view, option, option ? state.options.value(*option) : OptionValue());
  };
  const auto option = shown_option();
  const std::string option_text = state.option_text.edit.text;
  ReduceContext context{snapshot};
  action.apply(state, context);
  // A later comparison begins at what is new.
  if (compared && !has_comparison(state) && state.side == Side::baseline) state.side = Side::run;
  if (shown_option() != option && state.option_text.edit.text == option_text) show_option_text(state);
  const bool is_edited_text = !context.is_other_text && !action.get_if<Undo>();
  if (is_edited_text && has_positions(before.edits) && state.edits == before.edits)
    move_with_tokens(state, prompt_without_edits(before), snapshot);
  const bool is_new_step = remember_change(state, std::move(before), context);
  const bool shows_other = remember_visit(state, std::move(seen), context);
  if (shows_other) state.edits_bar.problem.clear();  // it was about another view state
  if ((is_new_step || shows_other || state.side != side) && state.message.is_former &&
      !state.message.is_error)
    state.message = {};  // it was about what was there before
  return std::move(context.effects);
}

namespace {

/// One text field of the window, in the order of the enumerators.
struct FieldRow {
  std::string_view name;
  Dialog dialog;  ///< the dialog that opens with the caret in it; none: of no dialog, or not its first field
  TextField& (*of)(UiState&);
};

constexpr FieldRow kFieldRows[] = {
    {"prompt", Dialog::none, [](UiState& s) -> TextField& { return s.prompt; }},
    {"value", Dialog::none, [](UiState& s) -> TextField& { return s.option_text; }},
    {"file", Dialog::export_, [](UiState& s) -> TextField& { return s.export_form.path; }},
    {"size of the picture", Dialog::none, [](UiState& s) -> TextField& { return s.export_form.size; }},
    {"folder", Dialog::open, [](UiState& s) -> TextField& { return s.open_form.path; }},
    {"edit", Dialog::none, [](UiState& s) -> TextField& { return s.edits_bar.text; }},
    {"second prompt", Dialog::none, [](UiState& s) -> TextField& { return s.second.text; }},
    {"session", Dialog::save, [](UiState& s) -> TextField& { return s.save_form.path; }},
    {"search the help", Dialog::help, [](UiState& s) -> TextField& { return s.help_form.search; }},
    {"command", Dialog::palette, [](UiState& s) -> TextField& { return s.palette.search; }},
};
static_assert(std::size(kFieldRows) == kFields);

}  // namespace

TextField& field_of(UiState& state, Field field) {
  return kFieldRows[static_cast<std::size_t>(field)].of(state);
}

std::string_view name_of(Field field) {
  return kFieldRows[static_cast<std::size_t>(field)].name;
}

Field first_field(Dialog dialog) {
  if (dialog == Dialog::none) return Field::prompt;
  return static_cast<Field>(std::ranges::find(kFieldRows, dialog, &FieldRow::dialog) - kFieldRows);
}

const TextField& field_of(const UiState& state, Field field) {
  return field_of(const_cast<UiState&>(state), field);
}

Prompt prompt_of(const UiState& state) {
  Prompt prompt = prompt_without_edits(state);
  prompt.edits = state.edits.active();
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
  wanted.second_request = state.second_request;
  if (state.second.on) {
    wanted.second = Prompt{state.second.text.edit.text, {}, state.start_token};
  } else if (!state.second.model.empty()) {
    wanted.second = prompt_without_edits(state);
  }
  wanted.alignment = state.second.alignment;
  return wanted;
}

}  // namespace headscope::app
