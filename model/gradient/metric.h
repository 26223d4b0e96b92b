#pragma once
#include <span>
#include <variant>
#include <vector>

#include "model/files/config.h"

/// Numbers that a run's logits give, and their derivatives with respect to the logits.
namespace headscope::model {

/// The position whose prediction is measured; -1: the run's last.
constexpr int kLastPosition = -1;

/// The logit of a token.
struct TokenLogit {
  int token = 0;
  int position = kLastPosition;
  bool operator==(const TokenLogit&) const = default;
};

/// The logit of a token minus that of another.
struct LogitDifference {
  int token = 0;
  int against = 0;
  int position = kLastPosition;
  bool operator==(const LogitDifference&) const = default;
};

/// The natural logarithm of a token's probability.
struct LogProbability {
  int token = 0;
  int position = kLastPosition;
  bool operator==(const LogProbability&) const = default;
};

/// The mean over the prompt of -log p(next token), in nats.
struct PromptLoss {
  bool operator==(const PromptLoss&) const = default;
};

/// KL(baseline || run), in nats.
struct Divergence {
  std::vector<float> baseline;  ///< the logits of the baseline, [vocab_size]
  int position = kLastPosition;
  bool operator==(const Divergence&) const = default;
};

using Metric = std::variant<TokenLogit, LogitDifference, LogProbability, PromptLoss, Divergence>;

/// Checks a metric against a model and a run of `length` tokens. Throws RunError (one sentence) for a token
/// or position that does not exist, the loss of a single token, and a baseline that is not a distribution.
void check(const Config& config, int length, const Metric& metric);

/// Positions [first, first + count).
struct Positions {
  int first = 0;
  int count = 0;
  bool operator==(const Positions&) const = default;
};

/// The positions whose logits a checked metric depends on.
Positions positions_of(const Metric& metric, int length);

/// The derivative with respect to one logit.
struct LogitWeight {
  int token = 0;
  float weight = 0;
};

/// The derivatives of a metric that is a sum of weighted logits of one position; empty for other metrics.
std::vector<LogitWeight> logit_weights(const Metric& metric);

/// Replaces the logits after a position, [vocab_size], by the derivatives of a checked metric of a run of
/// `tokens` with respect to them, and returns what the position adds to the metric. `position` is one of
/// positions_of.
double differentiate(const Metric& metric, std::span<const int> tokens, int position,
                     std::span<float> logits);

}  // namespace headscope::model
