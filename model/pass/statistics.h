#pragma once
#include <span>
#include <vector>

#include "model/pass/transformer.h"

namespace headscope::model {

/// Rows whose logits are held at a time for statistics: enough to reuse each weight that is read. The lens of
/// GPT-2 has 25 rows for a position.
constexpr int kRowsOfLogits = 100;

/// A distribution that others are compared with, in double.
struct Distribution {
  std::vector<double> probabilities = {}, logs = {};  ///< [n]; the natural logarithms of the probabilities

  Distribution() = default;
  explicit Distribution(std::span<const float> logits);
  /// KL(this || other), in nats, clamped at 0 against rounding. The other has `logits` and their log_sum_exp.
  double divergence(std::span<const float> logits, double log_sum) const;
};

/// log(sum(exp(logits))), summed in double. NaN if a logit is NaN.
double log_sum_exp(std::span<const float> logits);

/// The `count` largest logits (all if there are fewer), best first, ties by the smaller id, NaN last. Their
/// probabilities are left at 0.
std::vector<Guess> largest_logits(std::span<const float> logits, int count);

/// The number of logits that rank before that of `id` in the order of largest_logits; -1 if a logit is NaN.
int rank_of(std::span<const float> logits, int id);

}  // namespace headscope::model
