#pragma once
#include "app/cli/arguments/arguments.h"
#include "app/cli/commands/list_means.h"

namespace headscope::app {

/// The logit lens after every position, or after one.
struct LensCommand : Arguments, MeanArguments {
  std::optional<int> top;  ///< guesses at each place; nothing: 5
  int guesses() const { return top.value_or(5); }
  GivenToken token = {};             ///< whose probability and rank are shown; none: the final answer
  std::optional<int> position = {};  ///< -1: the last; nothing: all, of means the last
};

}  // namespace headscope::app
