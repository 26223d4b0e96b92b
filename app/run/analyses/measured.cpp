#include "app/run/analyses/measured.h"

#include <numeric>

#include "app/counted.h"
#include "app/run/analyses/predictions.h"
#include "model/files/error.h"

namespace headscope::app {

double unit_of(Metric metric) {
  return is_in_bits(metric) ? bits(1) : 1;
}

Measured resolved(Measured of, std::span<const float> logits) {
  const int tokens = token_count(of.metric);
  of.token = tokens > 0 ? by_id(of.token, logits) : TokenRef();
  of.other = tokens > 1 ? by_id(of.other, logits, of.token) : TokenRef();
  if (tokens > 1 && of.other == of.token) throw model::RunError(kOneTwice);
  return of;
}

Measured resolved(const Measured& of, const PromptRun& run, const Resources& with) {
  if (of.metric == Metric::loss) return {of.metric, {}, {}};
  const int length = run.run->length();
  if (of.position >= length)
    throw model::RunError("there is no position " + std::to_string(of.position) + ": the last one is " +
                          std::to_string(length - 1));
  Measured at = of;
  if (at.position < 0) at.position = length - 1;
  if (token_count(of.metric) == 0) return {of.metric, {}, {}, at.position};
  const bool ranks_unedited = run.baseline && !compares_different_inputs(run);
  return resolved(at, logits_after(ranks_unedited ? *run.baseline : run, at.position, with));
}

double logit_of(const Measured& of, std::span<const float> logits) {
  double logit = static_cast<double>(logits[of.token.id()]);
  if (of.other.id() >= 0) logit -= static_cast<double>(logits[of.other.id()]);
  if (of.other == TokenRef::mean())
    logit -= std::accumulate(logits.begin(), logits.end(), 0.0) / static_cast<double>(logits.size());
  return logit;
}

/// The logits of the baseline that a divergence is from.
static std::vector<float> baseline_logits(const PromptRun& run, int position, const Resources& with) {
  if (!run.baseline) throw model::RunError("KL needs a baseline to compare the run with, but there is none");
  const int there = counterpart_of(run, position);
  if (there < 0)
    throw model::RunError("KL compares the predictions after position " + std::to_string(position) +
                          ", which has no counterpart in the baseline's " +
                          counted(run.baseline->run->length(), "token") +
                          "; choose another position, or match equal tokens (--align token)");
  return logits_after(*run.baseline, there, with);
}

model::Metric gradient_metric(const Measured& of, const PromptRun& run, const Resources& with) {
  const int token = of.token.id(), at = of.position;
  if (of.metric == Metric::logit) return model::TokenLogit{token, at};
  if (of.metric == Metric::difference) return model::LogitDifference{token, of.other.id(), at};
  if (of.metric == Metric::log_probability) return model::LogProbability{token, at};
  if (of.metric == Metric::divergence) return model::Divergence{baseline_logits(run, at, with), at};
  if (of.metric == Metric::loss) return model::PromptLoss{};
  throw model::RunError("gradients are taken of the logarithm of a probability, not of the probability");
}

std::string describe(const Measured& of, const PromptRun& run) {
  const auto name = [&](const TokenRef& token) {
    return token_label(*run.model->tokenizer, token.id()) + " (id " + std::to_string(token.id()) + ")";
  };
  if (of.metric == Metric::loss) return "loss of the prompt, nats";
  const bool difference = of.metric == Metric::difference, logit = of.metric == Metric::logit;
  const std::string after = " after position " + std::to_string(of.position);
  if (of.metric == Metric::divergence) return "KL(baseline || run)" + after + ", nats";
  return (difference || logit ? "logit of " : "log probability of ") + name(of.token) +
         (difference ? " minus " + name(of.other) : "") + after + (difference || logit ? "" : ", nats");
}

}  // namespace headscope::app
