#pragma once
#include <optional>
#include <string>

#include "app/cli/arguments/arguments.h"
#include "app/run/analyses/saliency.h"

namespace headscope::app {

/// The share of each token of the prompt in a metric.
struct SaliencyCommand : Arguments {
  GradientMetric metric = GradientMetric::logit;
  SaliencyMethod method = SaliencyMethod::gradient_input;
  std::optional<SaliencyBaseline> baseline;  ///< of integrated gradients; nothing: not given
  std::optional<int> steps;                  ///< nothing: not given
  std::string token;                         ///< text or id; empty: the most probable
  std::string other_token;                   ///< text or id; empty: the second most probable
  std::optional<int> position;               ///< -1, or not given: the last
};

}  // namespace headscope::app
