#include "app/window/state/tours.h"

#include <algorithm>
#include <utility>

#include "app/run/edits/edit_text.h"
#include "app/window/state.h"
#include "model/files/error.h"

namespace headscope::app {
namespace {

WindowContent content_of(const UiState& s) {
  return {s, s.side, s, s.options};
}

/// Shows a stop's selection, and its comparison and edits in place of the user's, because its text is about
/// those. They depend on the model.
void enter(UiState& s, const TourStop& stop, const Snapshot& snapshot) {
  select_stop(s, stop, snapshot);
  const auto& model = snapshot.model;
  const std::string second = model && model->patterns ? "" : stop.second.value_or("");
  s.side = Side::run;
  s.second = {.on = !second.empty(), .text = {make_text_state(second)}, .model = {}};
  s.edits = {};
  try {
    if (model && !stop.edits.empty())
      for (model::Edit& edit : parse_edits(stop.edits, *model))
        s.edits.edits.push_back({std::move(edit), true});
  } catch (const model::RunError& e) {  // the tour was written for another model
    s.edits = {};
    s.edits_bar.open = true;
    s.edits_bar.problem = e.what();
  }
  s.tour.entered = content_of(s);
  s.tour.entered->document.prompt.edit.text = stop.prompt.value_or("");
}

}  // namespace

void select_stop(UiState& s, const TourStop& stop, const Snapshot& snapshot) {
  const Extent e = extent(snapshot);
  const auto index = [](std::optional<int> given, int chosen, int count) {
    return std::clamp(given ? (*given < 0 ? count - 1 : *given) : chosen, 0, count - 1);
  };
  s.selection = {index(stop.layer, s.selection.layer, e.layers), index(stop.head, s.selection.head, e.heads),
                 -1, -1};
  scroll_to_start(s);
  if (!snapshot.model || !(stop.token || stop.key)) return;
  try {
    const PromptTokens tokens = tokenize(*snapshot.model, prompt_without_edits(s));
    const std::string& text = s.prompt.edit.text;
    if (stop.token) s.selection.query = position_of(*stop.token, text, tokens);
    if (stop.key) s.selection.key = position_of(*stop.key, text, tokens);
  } catch (const model::RunError&) {  // the prompt cannot be run: the worker reports it
  }
}

void reduce(UiState& s, const OpenTour& a, ReduceContext& w) {
  reduce(s, CloseTour{}, w);
  s.tour.open = true;
  s.tour.tour = a.tour;
  if (a.tour >= 0) reduce(s, GoToStop{0}, w);
}

void reduce(UiState& s, const CloseTour&, ReduceContext& w) {
  if (const auto before = std::exchange(s.tour.before, std::nullopt)) {
    if (before->document.prompt.edit.text != s.prompt.edit.text) {
      w.is_other_text = true;
      s.message = {"Your prompt from before the tour is back; Ctrl+Z returns to the tour's."};
    }
    restore(s, before->document, w.snapshot);  // another model may have been opened during the tour
    s.side = has_comparison(s) ? before->side : Side::run;
    static_cast<ViewState&>(s) = before->view_state;  // the run may be pending
    s.options = before->options;
    s.playing = nullptr;
  }
  s.tour = {};
}

/// Options have their defaults, unless the stop names them: texts say their numbers.
void reduce(UiState& s, const GoToStop& a, ReduceContext& w) {
  if (s.tour.tour < 0 || s.tour.tour >= std::ssize(s.tours)) return;
  const Tour& tour = s.tours[s.tour.tour];
  const bool opens = !s.tour.before;
  const Document own = s;
  Document known = opens ? Document{} : s.tour.entered->document;
  if (opens) s.tour.before = content_of(s);
  if (opens && shown_example(s) != nullptr) known.prompt = own.prompt;
  const int before =
      std::exchange(s.tour.stop, std::clamp(a.stop, 0, static_cast<int>(tour.stops.size()) - 1));
  const bool ends = s.tour.stop + 1 == std::ssize(tour.stops);
  if (ends && std::ranges::count(s.finished_tours, tour.id) == 0) s.finished_tours.push_back(tour.id);
  const TourStop now = resolve_stop(tour, s.tour.stop);
  // Keeps what the user typed until a stop has another prompt.
  const bool goes_on =
      s.tour.entered && before != s.tour.stop && s.tour.entered->document.prompt.edit.text == now.prompt;
  if (!goes_on && now.prompt && *now.prompt != s.prompt.edit.text)
    replace_prompt(s, {*now.prompt, {}, s.start_token}, w);  // an example's note stays with its own prompt
  s.playing = nullptr;
  s.options = {};
  for (const auto& [option, value] : now.options) s.options.set(*option, value);
  if (!now.view.empty()) reduce(s, ShowView{now.view}, w);
  enter(s, now, w.snapshot);
  if ((differing_parts(own, known) & differing_parts(own, s)) == 0) return;
  s.message = {opens
                   ? "The tour shows its own prompt, edits and comparison; yours come back when it is closed."
                   : "The tour has replaced your changes; Ctrl+Z restores them."};
}

void apply_stop_to_model(UiState& s, const Snapshot& snapshot) {
  if (s.tour.entered && view_state(s) == s.tour.entered->view_state)
    enter(s, *resolved_tour_stop(s), snapshot);
}

const TourStop* tour_stop(const TourSlice& state) {
  const TourPlace& place = state.tour;
  return place.tour < 0 ? nullptr : &state.tours.at(place.tour).stops.at(place.stop);
}

std::optional<TourStop> resolved_tour_stop(const TourSlice& state) {
  const TourPlace& place = state.tour;
  if (place.tour < 0) return std::nullopt;
  return resolve_stop(state.tours.at(place.tour), place.stop);
}

bool is_stop_done(const UiState& state) {
  const TourStop* stop = tour_stop(state);
  return stop == nullptr || stop->wait == nullptr ||
         stop->wait->is_done(state.tour.entered->view_state, view_state(state));
}

bool has_left_stop(const UiState& state) {
  const auto& stop = state.tour.entered;
  return !stop || view_state(state) != stop->view_state || state.options != stop->options ||
         differing_parts(state, stop->document) != 0;
}

}  // namespace headscope::app
