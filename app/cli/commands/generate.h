#pragma once
#include <cstdint>

#include "app/cli/arguments/arguments.h"
#include "model/tokens/sampling.h"

namespace headscope::app {

/// Generates tokens by sampling.
struct GenerateCommand : Arguments {
  int tokens = 40;
  model::SamplingOptions sampling;
  std::uint64_t seed = 0;
  bool echo = false;  ///< print the prompt first
};

}  // namespace headscope::app
