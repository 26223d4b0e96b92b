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
  log_probability,  ///< of a token
  loss,             ///< of the prompt
  divergence,       ///< KL(baseline || run) of all tokens
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

/// Whether answers have a metric in bits; the others are logits. What gradients are taken of is in nats.
constexpr bool is_in_bits(GradientMetric metric) {
  return metric >= GradientMetric::log_probability;
}

/// What the value of a run's metric is multiplied by for answers.
double unit_of(const model::Metric& metric);

/// A metric whose tokens may be ranks and whose baseline is the run's.
struct MetricChoice {
  GradientMetric metric = GradientMetric::logit;
  TokenChoice token = TokenChoice::best();
  TokenChoice against = TokenChoice::other();  ///< for a difference
  int position = -1;                           ///< of the prediction; -1: the last; not for the loss
  bool operator==(const MetricChoice&) const = default;
};

/// The metric for a run. Ranks are those of the unedited run if that is the run's baseline. The baseline of a
/// divergence is the run's at the position's counterpart. Throws RunError for a position, a token, a baseline
/// or a counterpart that does not exist.
model::Metric metric_for(const MetricChoice& choice, const PromptRun& run, model::Workspace& workspace);

/// "logit of ·it (id 340) minus ·that (id 326) after position 5"
std::string describe(const model::Metric& metric, const PromptRun& run);

}  // namespace headscope::app
