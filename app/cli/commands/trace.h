#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "app/cli/arguments/arguments.h"
#include "app/run/analyses/metric_choice.h"

namespace headscope::app {

/// A metric as given: its tokens are read once the model is known.
struct GivenMetric {
  GradientMetric metric = GradientMetric::logit;
  GivenToken token = {};    ///< none: the most probable
  GivenToken against = {};  ///< none: the most probable other one
  bool operator==(const GivenMetric&) const = default;
};

/// Reads "logit", "logit:TOKEN" or "difference:TOKEN,TOKEN". Throws UsageError.
GivenMetric given_metric(const std::string& option, const std::string& text);

/// Writes activations and gradients to a safetensors file.
struct TraceCommand : Arguments {
  std::string hooks;                     ///< globs, comma-separated; empty: all
  std::optional<GivenMetric> gradients;  ///< nothing: no gradients
  GivenToken token, other_token;         ///< as given by options of their own; none: not given
  std::optional<int> position;           ///< of the prediction that is measured; -1, or not given: the last
  std::filesystem::path out;
};

}  // namespace headscope::app
