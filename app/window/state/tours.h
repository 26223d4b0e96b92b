#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/run/edits/edit_list.h"
#include "app/tour/tour.h"
#include "app/window/state/slice.h"

namespace headscope::app {

/// The panel of tours, and the stop that is open.
struct TourPlace {
  bool open = false;
  int tour = -1;  ///< index; -1: the list of them
  int stop = 0;
  ViewState entered;   ///< what the stop showed at first
  std::string prompt;  ///< the stop's prompt
  Options options;     ///< as the stop set them
  std::vector<std::pair<const OptionSpec*, OptionValue>>
      before;                            ///< options that the tour set, with their values before
  EditList edits;                        ///< as the stop made them
  std::optional<EditList> edits_before;  ///< from before the tour edited; nothing: it did not
  struct Compared {
    bool prompt = false;
    std::filesystem::path model;
    bool operator==(const Compared&) const = default;
  };
  std::optional<Compared> compared_before;  ///< a comparison that a stop ended; nothing: none
  bool operator==(const TourPlace&) const = default;
};

struct TourSlice {
  std::vector<Tour> tours;
  TourPlace tour;
};

struct OpenTour {  ///< at its first stop; -1: shows the list of tours
  int tour = -1;
};
struct GoToStop {  ///< of the open tour
  int stop = 0;
};
struct CloseTour {};

void reduce(UiState& s, const OpenTour& a, World& w);
void reduce(UiState& s, const GoToStop& a, World& w);
void reduce(UiState& s, const CloseTour& a, World& w);

/// Selects and edits again what the open stop asks for: only the model tells which heads and tokens these
/// are.
void aim_stop_at_model(UiState& state, const Snapshot& snapshot);

/// The open stop; null: none.
const TourStop* tour_stop(const TourSlice& state);
/// Whether the user did what the stop waits for; true where it waits for nothing.
bool stop_is_done(const UiState& state);
/// Whether the window shows something else than the stop set, or another prompt.
bool left_the_stop(const UiState& state);

/// The user's own options, without those that an open tour set.
Options own_options(const UiState& state);

}  // namespace headscope::app
