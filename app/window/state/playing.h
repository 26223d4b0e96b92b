#pragma once
#include "app/views/option.h"
#include "app/window/state/slice.h"

namespace headscope::app {

/// An option that runs through its whole values from its lowest one on: it rests at each, and moves on to the
/// next.
struct Playing {
  const OptionSpec* option = nullptr;  ///< null: none
  double seconds = 0;                  ///< since its start
};

/// The option's value at that time; the highest one from the end on.
double played_value(const Playing& playing);
/// Seconds until the value changes: 0 while it moves. At the end too, so that playing ends.
double seconds_until_change(const Playing& playing);
bool has_ended(const Playing& playing);

/// Runs through an option's values; with null, or if it does so already, stops.
struct PlayOption {
  const OptionSpec* option = nullptr;
};
/// Time has passed. Stops if the option no longer has the value that was set last, because something else has
/// set it, such as a session that was opened; or if no view with it is shown.
struct AdvancePlaying {
  double seconds = 0;
};

void reduce(UiState& s, const PlayOption& a, World& w);
void reduce(UiState& s, const AdvancePlaying& a, World& w);

}  // namespace headscope::app
