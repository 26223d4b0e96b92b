#pragma once
#include <optional>

#include "app/cli/arguments/arguments.h"
#include "app/run/analyses/saliency.h"
#include "app/run/measured_metric.h"

namespace headscope::app {

/// The share of each token of the prompt in a metric.
struct SaliencyCommand : Arguments {
  MeasuredMetric<GradientMetric> measured;
  SaliencyMethod method = SaliencyMethod::gradient_input;
  std::optional<SaliencyBaseline> baseline;  ///< of integrated gradients; nothing: not given
  std::optional<int> steps;                  ///< nothing: not given
};

}  // namespace headscope::app
