#pragma once
#include "app/cli/arguments/arguments.h"
#include "app/run/analyses/weight_search.h"

namespace headscope::app {

/// Searches for heads with large weights between given tokens.
struct SearchCommand : Arguments {
  WeightSearch search;
  int top = 20;
};

}  // namespace headscope::app
