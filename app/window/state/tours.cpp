#include "app/window/state/tours.h"

#include <algorithm>
#include <utility>

#include "app/run/edits/edit_text.h"
#include "app/window/state.h"
#include "model/files/error.h"

namespace headscope::app {
namespace {

void set_option(UiState& s, const OptionSpec& option, OptionValue value) {
  auto& before = s.tour.before;
  if (std::ranges::find(before, &option, [](const auto& kept) { return kept.first; }) == before.end())
    before.emplace_back(&option, s.options.value(option));
  s.options.set(option, std::move(value));
}

/// Selects the head and the tokens that a stop names, these by their words; the prompt may not have been run
/// yet.
void select(UiState& s, const TourStop& stop, const Snapshot& snapshot) {
  const Extent e = extent(snapshot);
  const auto index = [](std::optional<int> given, int chosen, int count) {
    return std::clamp(given ? (*given < 0 ? count - 1 : *given) : chosen, 0, count - 1);
  };
  s.selection = {index(stop.layer, s.selection.layer, e.layers), index(stop.head, s.selection.head, e.heads),
                 -1, -1};
  scroll_to_start(s);
  if (!snapshot.model || !(stop.token || stop.key)) return;
  try {
    const PromptTokens tokens = tokenize(*snapshot.model, typed_prompt(s));
    const std::string& text = s.prompt.edit.text;
    if (stop.token) s.selection.query = position_of(*stop.token, text, tokens);
    if (stop.key) s.selection.key = position_of(*stop.key, text, tokens);
  } catch (const model::RunError&) {  // a prompt that cannot be run: the worker says why
  }
}

/// Makes the stop's edits the only ones: its text is about these.
void edit(UiState& s, const TourStop& stop, const Snapshot& snapshot) {
  TourPlace& tour = s.tour;
  if (!tour.edits_before) tour.edits_before = s.edits.list;
  EditList list;
  s.side = Side::run;
  if (!stop.edits.empty() && s.second.compares()) {  // it is compared with the unedited run
    tour.compared_before = {s.second.on, s.second.model};
    s.second.on = false, s.second.model.clear();
    s.message = {
        "The tour compares with the run without its changes; what was compared comes back behind it."};
  }
  try {
    if (snapshot.model && !stop.edits.empty())
      for (model::Edit& edit : parse_edits(stop.edits, *snapshot.model))
        list.edits.push_back({std::move(edit), true});
  } catch (const model::RunError& e) {  // the tour is about another model
    s.edits.open = true;
    s.edits.problem = e.what();
  }
  become(s.edits, std::move(list));
  tour.edits = s.edits.list;
}

}  // namespace

void reduce(UiState& s, const OpenTour& a, World& w) {
  reduce(s, CloseTour{}, w);
  s.tour.open = true;
  s.tour.tour = a.tour;
  if (a.tour >= 0) reduce(s, GoToStop{0}, w);
}

/// Restores the edits and the comparison from before the tour, unless the user changed them since.
void reduce(UiState& s, const CloseTour&, World& w) {
  Options own = own_options(s);
  const bool changed = own != s.options;
  s.options = std::move(own);
  if (s.tour.edits_before && s.edits.list == s.tour.edits) become(s.edits, *s.tour.edits_before);
  if (const auto& compared = s.tour.compared_before)
    s.second.on = compared->prompt, s.second.model = compared->model;
  s.tour = {};
  if (changed) show_option_text(s), w.save();
}

/// Options that the tour sets, and those of the view alone, are at their defaults where the stop does not
/// name them.
void reduce(UiState& s, const GoToStop& a, World& w) {
  if (s.tour.tour < 0 || s.tour.tour >= std::ssize(s.tours)) return;
  const Tour& tour = s.tours[s.tour.tour];
  const int before = s.tour.entered.view.empty() ? -1 : s.tour.stop;  // none when it was opened just now
  s.tour.stop = std::clamp(a.stop, 0, static_cast<int>(tour.stops.size()) - 1);
  const TourStop now = at_stop(tour, s.tour.stop);
  // What the user typed stays until a stop has another prompt.
  const bool returns = before == s.tour.stop;
  const bool goes_on = before >= 0 && !returns && at_stop(tour, before).prompt == now.prompt;
  if (!goes_on && now.prompt && *now.prompt != s.prompt.edit.text)
    reduce(s, SetPrompt{*now.prompt, {}, ""}, w);
  s.tour.prompt = now.prompt.value_or("");
  if (returns) s.options = s.tour.options;
  for (const TourStop& stop : tour.stops)
    for (const auto& [option, value] : stop.options) set_option(s, *option, option->default_value);
  if (const View* view = find_view(now.view))
    for (const OptionSpec* option : options_shown_with(*view)) set_option(s, *option, option->default_value);
  for (const auto& [option, value] : now.options) set_option(s, *option, value);
  if (!now.view.empty()) reduce(s, ShowView{now.view}, w);
  show_option_text(s);
  select(s, now, w.snapshot);
  edit(s, now, w.snapshot);
  s.tour.entered = looked_at(s);
  s.tour.options = s.options;
}

void aim_stop_at_model(UiState& s, const Snapshot& snapshot) {
  if (s.tour.tour < 0 || looked_at(s) != s.tour.entered) return;
  const TourStop stop = at_stop(s.tours.at(s.tour.tour), s.tour.stop);
  select(s, stop, snapshot);
  edit(s, stop, snapshot);
  s.tour.entered = looked_at(s);
}

const TourStop* tour_stop(const TourSlice& state) {
  const TourPlace& place = state.tour;
  return place.tour < 0 ? nullptr : &state.tours.at(place.tour).stops.at(place.stop);
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

}  // namespace headscope::app
