#pragma once
#include <string>

#include "app/run/analyses/attribution.h"
#include "app/run/named.h"
#include "model/gradient/metric.h"

namespace headscope::app {

/// What gradients are taken of.
enum class GradientMetric {
  logit,            ///< a token's
  difference,       ///< difference of two tokens' logits
  log_probability,  ///< a token's, natural logarithm
  loss,             ///< the prompt's, in nats
  divergence,       ///< KL(baseline || run) of all tokens, in nats
};

inline constexpr Named<GradientMetric> kGradientMetrics[] = {{"logit", GradientMetric::logit},
                                                             {"difference", GradientMetric::difference},
                                                             {"logprob", GradientMetric::log_probability},
                                                             {"loss", GradientMetric::loss},
                                                             {"kl", GradientMetric::divergence}};

/// How many tokens a metric names.
constexpr int token_count(GradientMetric metric) {
  switch (metric) {
    case GradientMetric::logit:
    case GradientMetric::log_probability:
      return 1;
    case GradientMetric::difference:
      return 2;
    case GradientMetric::loss:
    case GradientMetric::divergence:
      break;
  }
  return 0;
}

/// Whether a metric is of the prediction after one position.
constexpr bool has_position(GradientMetric metric) {
  return metric != GradientMetric::loss;
}

/// A metric whose tokens may be ranks and whose baseline is the run's.
struct MetricChoice {
  GradientMetric metric = GradientMetric::logit;
  TokenChoice token = TokenChoice::best();
  TokenChoice against = TokenChoice::other();  ///< for a difference
  int position = -1;                           ///< of the prediction; -1: the last; not for the loss
  bool operator==(const MetricChoice&) const = default;
};

/// The metric for a run. Ranks are those of the unedited run if that is the run's baseline. The baseline of a
/// divergence is the run's at the same position, or at its own last one. Throws RunError for a position, a
/// token or a baseline that does not exist.
model::Metric metric_for(const MetricChoice& choice, const PromptRun& run, model::Workspace& workspace);

/// "logit of ·it (id 340) minus ·that (id 326) after position 5"
std::string describe(const model::Metric& metric, const PromptRun& run);

}  // namespace headscope::app
