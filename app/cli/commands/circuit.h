#pragma once
#include <optional>
#include <string>

#include "app/cli/arguments/arguments.h"
#include "app/views/output/circuit_options.h"

namespace headscope::app {

/// The strongest edges between the parts of the model, and what they keep of a metric.
struct CircuitCommand : Arguments {
  CircuitMethod method = CircuitMethod::integrated;
  GradientMetric metric = GradientMetric::difference;
  std::optional<CircuitCut> ablation;  ///< nothing: not given
  std::optional<std::string> from;     ///< the second prompt
  std::optional<Alignment> alignment;
  std::string token;            ///< text or id; empty: the most probable
  std::string other_token;      ///< text or id; empty: the second most probable
  std::optional<int> position;  ///< -1, or not given: the last
  int edges = kCircuitEdges;
  std::optional<int> steps;  ///< nothing: not given
  bool by_position = false;
  bool no_recipe = false;
  PictureArguments picture;
  Destination out;
};

}  // namespace headscope::app
