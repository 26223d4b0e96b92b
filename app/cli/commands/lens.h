#pragma once
#include "app/cli/arguments/arguments.h"

namespace headscope::app {

/// The logit lens after every position.
struct LensCommand : Arguments {
  int top = 5;  ///< guesses at each place
};

}  // namespace headscope::app
