#pragma once
#include <optional>
#include <string>

#include "app/cli/arguments/arguments.h"
#include "app/run/measured_metric.h"
#include "app/views/output/circuit_options.h"

namespace headscope::app {

/// The strongest edges between the parts of the model, and what they keep of a metric.
struct CircuitCommand : Arguments {
  CircuitMethod method = CircuitMethod::integrated;
  MeasuredMetric<GradientMetric> measured{GradientMetric::difference};
  std::optional<CircuitCut> ablation;  ///< nothing: not given
  std::optional<std::string> second;   ///< the second prompt
  std::optional<Alignment> alignment;
  int edges = kCircuitEdges;
  std::optional<int> steps;  ///< nothing: not given
  bool by_position = false;
  bool no_recipe = false;
  bool ablates_with_means() const { return ablation == CircuitCut::mean; }
  Destination out;
};

}  // namespace headscope::app
