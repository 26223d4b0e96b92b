#pragma once
#include "app/cli/arguments/arguments.h"

namespace headscope::app {

/// The most probable next tokens.
struct PredictCommand : Arguments {
  int top = 10;
  bool all_positions = false;
};

}  // namespace headscope::app
