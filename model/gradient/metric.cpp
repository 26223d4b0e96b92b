#include "model/gradient/metric.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/files/error.h"
#include "model/kernels/kernels.h"
#include "model/maths/sum.h"
#include "model/pass/each_kind.h"
#include "model/pass/statistics.h"

namespace headscope::model {
namespace {

void check_token(const Config& config, int token) {
  if (token >= 0 && token < config.vocab_size) return;
  throw RunError("the metric names the token " + std::to_string(token) +
                 ", but the model's vocabulary has the ids 0 to " + std::to_string(config.vocab_size - 1));
}

void check_position(int length, int position) {
  if (position >= kLastPosition && position < length) return;
  throw RunError("the metric names the position " + std::to_string(position) +
                 ", but the run has positions 0 to " + std::to_string(length - 1));
}

void check_baseline(const Config& config, const Divergence& divergence) {
  const auto count = static_cast<int>(divergence.baseline.size());
  if (count != config.vocab_size)
    throw RunError("the metric's baseline has " + std::to_string(count) + " logits, but the model has " +
                   std::to_string(config.vocab_size));
  if (!std::isfinite(log_sum_exp(divergence.baseline)))
    throw RunError(
        "the metric's baseline is not a distribution: its logits must be finite or -inf, not all of them "
        "-inf");
}

/// Replaces logits by probabilities. In two steps, since a sum in float32 over a vocabulary would be off by
/// more than a single probability's rounding.
void to_probabilities(double log_sum, std::span<float> logits) {
  for (float& logit : logits) logit = static_cast<float>(static_cast<double>(logit) - log_sum);
  fastest_kernels().rows.exp(logits.data(), static_cast<int>(logits.size()));
}

}  // namespace

void check(const Config& config, int length, const Metric& metric) {
  std::visit(
      [&](const auto& kind) {
        if constexpr (requires { kind.token; }) check_token(config, kind.token);
        if constexpr (requires { kind.against; }) check_token(config, kind.against);
        if constexpr (requires { kind.baseline; }) check_baseline(config, kind);
        if constexpr (requires { kind.position; }) {
          check_position(length, kind.position);
        } else if (length < 2) {
          throw RunError("the loss needs a token that follows another, but the prompt has " +
                         std::to_string(length) + " token");
        }
      },
      metric);
}

Positions positions_of(const Metric& metric, int length) {
  return std::visit(EachKind{
                        [&](const PromptLoss&) {
                          return Positions{0, length - 1};
                        },
                        [&](const auto& kind) {
                          return Positions{kind.position == kLastPosition ? length - 1 : kind.position, 1};
                        },
                    },
                    metric);
}

std::vector<LogitWeight> logit_weights(const Metric& metric) {
  if (const auto* logit = std::get_if<TokenLogit>(&metric)) return {{logit->token, 1}};
  if (const auto* difference = std::get_if<LogitDifference>(&metric))
    return {{difference->token, 1}, {difference->against, -1}};
  return {};
}

double differentiate(const Metric& metric, std::span<const int> tokens, int position,
                     std::span<float> logits) {
  const auto log_probability = [&](int token, double factor) {
    const double total = log_sum_exp(logits), logit = logits[token];
    const auto share = static_cast<float>(factor);
    to_probabilities(total, logits);
    for (float& value : logits) value *= -share;
    logits[token] += share;
    return factor * (logit - total);
  };
  return std::visit(
      EachKind{
          [&](const LogProbability& of) { return log_probability(of.token, 1); },
          [&](const PromptLoss&) {
            const auto followed = static_cast<double>(tokens.size() - 1);
            return log_probability(tokens[position + 1], -1 / followed);
          },
          [&](const Divergence& of) {
            const double total = log_sum_exp(logits), before = log_sum_exp(of.baseline);
            std::vector<double> shares;  // the baseline's probabilities
            for (const float logit : of.baseline) shares.push_back(std::exp(logit - before));
            const double divergence = sum_in_lanes<8>(logits.size(), [&](std::size_t i) {
              return shares[i] == 0 ? 0 : shares[i] * (of.baseline[i] - before - (logits[i] - total));
            });
            to_probabilities(total, logits);
            for (std::size_t i = 0; i < logits.size(); ++i)
              logits[i] = static_cast<float>(logits[i] - shares[i]);
            return std::max(divergence, 0.0);
          },
          [&](const auto&) {  // a sum of weighted logits
            const std::vector<LogitWeight> weights = logit_weights(metric);
            double sum = 0;
            for (const auto [token, weight] : weights) sum += static_cast<double>(weight) * logits[token];
            std::ranges::fill(logits, 0.0F);
            for (const auto [token, weight] : weights) logits[token] += weight;
            return sum;
          },
      },
      metric);
}

}  // namespace headscope::model
