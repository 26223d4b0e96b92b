// What a state says.
#include <algorithm>
#include <array>

#include "app/window/sessions.h"
#include "app/window/state.h"

namespace headscope::app {

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

std::vector<const View*> shown_tabs(const UiState& state) {
  std::vector<const View*> shown{find_view(state.view)};
  if (!state.beside.empty()) shown.push_back(find_view(state.beside));
  return shown;
}

std::vector<const OptionSpec*> options_shown_with(const View& view) {
  std::vector<const OptionSpec*> shown = view.options;
  const auto has_control_beside = [](const OptionSpec* option) {
    return std::ranges::any_of(std::array{Place::left, Place::right}, [&](Place place) {
      const auto& always = view_at(place).options;
      return std::ranges::find(always, option) != always.end();
    });
  };
  if (view.place == Place::tab) std::erase_if(shown, has_control_beside);
  return shown;
}

const OptionSpec* list_option(const UiState& state) {
  const OptionSpec* first = nullptr;
  for (const View* view : shown_tabs(state)) {
    for (const OptionSpec* option : view->options) {
      if (!std::holds_alternative<std::vector<int>>(option->default_value)) continue;
      if (option == state.typed_list) return option;
      if (!first) first = option;
    }
  }
  return first;
}

void show_option_text(UiState& state) {
  const OptionSpec* option = list_option(state);
  if (!option) return;
  const OptionValue& value = state.options.value(*option);
  std::string text;
  for (const char c : value == option->default_value ? std::string() : to_text(*option, value))
    text += c == ',' ? std::string(", ") : std::string(1, c);
  state.option_text.edit = make_edit_state(std::move(text));
}

TextField& field_of(UiState& state, Field field) {
  return const_cast<TextField&>(field_of(std::as_const(state), field));
}

const TextField& field_of(const UiState& state, Field field) {
  switch (field) {
    case Field::option:
      return state.option_text;
    case Field::export_path:
      return state.export_form.path;
    case Field::export_size:
      return state.export_form.size;
    case Field::session_path:
      return state.save_form.path;
    case Field::open_path:
      return state.open_form.path;
    case Field::edits:
      return state.edits.typed;
    case Field::second:
      return state.second.text;
    case Field::prompt:
      break;
  }
  return state.prompt;
}

ViewState looked_at(const UiState& state) {
  return {state.view, state.beside, state.selection};
}

std::optional<HubModel> typed_model(const UiState& state) {
  const std::string& text = state.open_form.path.edit.text;
  const bool is_file = is_for_open_file(text) || may_hold_patterns(text);
  return state.can_fetch && !state.fetching.model && !state.open_form.second && !is_file ? meant_model(text)
                                                                                         : std::nullopt;
}

const TourStop* tour_stop(const UiState& state) {
  const TourPlace& place = state.tour;
  if (place.tour < 0) return nullptr;
  return &state.tours.at(static_cast<std::size_t>(place.tour)).stops.at(static_cast<std::size_t>(place.stop));
}

bool stop_is_done(const UiState& state) {
  const TourStop* stop = tour_stop(state);
  return stop == nullptr || stop->wait == nullptr || stop->wait->done(state.tour.entered, looked_at(state));
}

bool left_the_stop(const UiState& state) {
  const TourPlace& stop = state.tour;
  return looked_at(state) != stop.entered || state.prompt.edit.text != stop.prompt ||
         state.options != stop.options || state.edits.list != stop.edits;
}

Options own_options(const UiState& state) {
  Options own = state.options;
  for (const auto& [option, value] : state.tour.before) own.set(*option, value);
  return own;
}

bool offers_models(const UiState& state, const Snapshot& snapshot) {
  return state.offer_models && state.can_fetch && !state.fetching.model && snapshot.model &&
         snapshot.model->folder == state.examples_model;
}

bool shows_changes(const UiState& state) {
  return state.edits.open || !state.edits.list.edits.empty();
}

bool compares(const UiState& state) {
  return state.second.compares() || !state.edits.list.active().empty();
}

Prompt typed_prompt(const UiState& state) {
  return {state.prompt.edit.text, state.ids, state.start_token};
}

Prompt prompt_of(const UiState& state) {
  Prompt prompt = typed_prompt(state);
  prompt.edits = state.edits.list.active();
  if (state.second.model.empty())
    std::erase_if(prompt.edits, [](const auto& edit) { return model::patches_from_second(edit); });
  return prompt;
}

Wanted wanted(const UiState& state, std::vector<Question> questions) {
  Wanted wanted{.model = state.model,
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
