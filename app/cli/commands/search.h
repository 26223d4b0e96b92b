#pragma once
#include "app/cli/arguments/arguments.h"
#include "app/run/analyses/weight_search.h"

namespace headscope::app {

/// Where heads look from some tokens to some others.
struct SearchCommand : Arguments {
  WeightSearch search;
  int top = 20;
};

}  // namespace headscope::app
