#pragma once
#include <optional>
#include <vector>

#include "app/tour/tour.h"
#include "app/window/state/document.h"

namespace headscope::app {

/// What a tour changes.
struct WindowContent {
  Document document;
  Side side = Side::run;
  ViewState view_state;
  Options options;
};

/// The tour panel and the open stop.
struct TourPlace {
  bool open = false;
  int tour = -1;  ///< index; -1: the list of tours
  int stop = 0;
  std::optional<WindowContent> entered;  ///< what the stop first showed
  std::optional<WindowContent> before;   ///< comes back when the tour is closed; nothing: no stop was open
};

struct TourSlice {
  std::vector<Tour> tours;
  TourPlace tour;
};

struct OpenTour {  ///< at its first stop; -1: shows the list of tours
  int tour = -1;
};
struct GoToStop {  ///< goes to a stop of the open tour
  int stop = 0;
};
struct CloseTour {};

void reduce(UiState& s, const OpenTour& a, ReduceContext& w);
void reduce(UiState& s, const GoToStop& a, ReduceContext& w);
void reduce(UiState& s, const CloseTour& a, ReduceContext& w);

/// Selects a stop's head and tokens, which are found by their words in the prompt: it may not have run yet.
void select_stop(UiState& state, const TourStop& stop, const Snapshot& snapshot);
/// Applies the open stop's selection and edits to a newly loaded model, which determines the heads and tokens
/// they name.
void apply_stop_to_model(UiState& state, const Snapshot& snapshot);

/// The open stop; null: none.
const TourStop* tour_stop(const TourSlice& state);
/// The same, completed by the previous stops.
std::optional<TourStop> resolved_tour_stop(const TourSlice& state);
/// Whether the user has done what the stop waits for; true if it waits for nothing.
bool is_stop_done(const UiState& state);
/// Whether the window shows something other than what the stop set, or another prompt.
bool has_left_stop(const UiState& state);

}  // namespace headscope::app
