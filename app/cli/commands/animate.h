#pragma once
#include <optional>
#include <string>
#include <utility>

#include "app/cli/commands/figure.h"

namespace headscope::app {

/// Makes an animated picture of a view.
struct AnimateCommand : PlotCommand {
  std::string through;                             ///< head, layer, query or an option of the view
  std::optional<std::pair<double, double>> range;  ///< its first and last value; nothing: all
  double hold = 1;                                 ///< seconds of each picture
  int fps = 25;                                    ///< pictures per second of a transition
};

}  // namespace headscope::app
