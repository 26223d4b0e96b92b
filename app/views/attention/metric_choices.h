#pragma once
#include <utility>
#include <vector>

#include "app/run/analyses/head_metrics.h"
#include "app/views/option.h"

namespace headscope::app {

/// The choices in `before`, then one for each metric, in the order of HeadMetric.
inline std::vector<Choice> metric_choices(std::vector<Choice> before = {}) {
  for (const HeadMetricKind& metric : head_metrics())
    before.push_back({metric.name, metric.label, metric.help, metric.caption});
  return before;
}

}  // namespace headscope::app
