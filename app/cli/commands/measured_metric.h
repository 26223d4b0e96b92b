#pragma once
#include <optional>

#include "app/cli/arguments/arguments.h"

namespace headscope::app {

/// What a command measures, as its options give it.
template <class Metric>
struct MeasuredMetric {
  Metric metric = Metric::logit;  ///< complete once check_measured has been called
  std::optional<Metric> given_metric = {};
  GivenToken token = {};             ///< none: the most probable
  GivenToken other_token = {};       ///< none: the most probable other one
  std::optional<int> position = {};  ///< -1, or not given: the last
};

}  // namespace headscope::app
