#pragma once
#include <optional>
#include <vector>

#include "app/cli/arguments/arguments.h"
#include "app/run/analyses/activation_search.h"
#include "app/run/analyses/weight_search.h"

namespace headscope::app {

/// Searches for heads with large weights between given tokens, or for large activations of neurons.
struct SearchCommand : Arguments {
  WeightSearch search;
  std::vector<NeuronIndex> neurons;  ///< none: weights are searched
  std::optional<double> above;       ///< as given; nothing: 0 of weights, no limit of activations
  int top = 20;
  std::optional<int>
      context;  ///< tokens on each side of a place; nothing: kContext of neurons, none of weights
  static constexpr int kContext = 8;
};

}  // namespace headscope::app
