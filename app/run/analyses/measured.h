#pragma once
#include <span>
#include <string>
#include <utility>

#include "app/run/question.h"
#include "app/run/token_ref.h"
#include "model/gradient/metric.h"

namespace headscope::app {

/// What a number says of a prediction, or of a prompt.
enum class Metric {
  logit,            ///< a token's
  difference,       ///< difference of two tokens' logits
  log_probability,  ///< a token's
  loss,             ///< the prompt's
  divergence,       ///< KL of all tokens' probabilities
  probability,      ///< a token's
};

/// How many tokens a metric names.
constexpr int token_count(Metric metric) {
  if (metric == Metric::difference) return 2;
  return metric == Metric::loss || metric == Metric::divergence ? 0 : 1;
}

/// Whether answers have a metric in bits. What gradients are taken of is in nats.
constexpr bool is_in_bits(Metric metric) {
  return metric >= Metric::log_probability && metric <= Metric::divergence;
}
/// What a metric in the unit of gradients is multiplied by for answers.
double unit_of(Metric metric);

/// What is measured. Questions give tokens by id or rank, answers by id.
struct Measured {
  Metric metric = Metric::logit;
  TokenRef token = TokenRef::best();
  TokenRef other = TokenRef::other();   ///< whose logit is subtracted in a difference
  int position = model::kLastPosition;  ///< of the prediction; not of the loss
  bool operator==(const Measured&) const = default;
};

inline Measured logit_at(int position, TokenRef token = TokenRef::best()) {
  return {Metric::logit, std::move(token), {}, position};
}
inline Measured difference_at(int position, TokenRef token = TokenRef::best(),
                              TokenRef other = TokenRef::other()) {
  return {Metric::difference, std::move(token), std::move(other), position};
}

/// The same with the ids of the tokens that the metric names, by the logits after the position. Throws
/// RunError for a token that does not exist, and for two that are the same.
Measured resolved(Measured of, std::span<const float> logits);
inline constexpr const char* kOneTwice =
    "both tokens are the same, so that their logits do not differ; choose another";

/// The same for the prediction of a run, with its position. Ranks are those of the unedited run if that is
/// the run's baseline. Throws RunError also for a position that does not exist.
Measured resolved(const Measured& of, const PromptRun& run, const Resources& with);

/// The logit that is measured, or its difference from another or from the mean of all; by ids.
double logit_of(const Measured& of, std::span<const float> logits);

/// What gradients are taken of; `of` is resolved. A divergence is that of the run from its baseline at the
/// position's counterpart; throws RunError if there is none.
model::Metric gradient_metric(const Measured& of, const PromptRun& run, const Resources& with);

/// "logit of ·it (id 340) minus ·that (id 326) after position 5"; `of` is resolved.
std::string describe(const Measured& of, const PromptRun& run);

}  // namespace headscope::app
