#pragma once
#include <span>
#include <vector>

#include "model/pass/results.h"

namespace headscope::model {

/// log(sum(exp(logits))), summed in double. NaN if a logit is NaN.
double log_sum_exp(std::span<const float> logits);

/// The `count` largest logits (all if there are fewer), best first, ties by the smaller id, NaN last. Their
/// probabilities are left at 0.
std::vector<Guess> largest_logits(std::span<const float> logits, int count);

/// The number of logits that rank before that of `id` in the order of largest_logits; -1 if a logit is NaN.
int rank_of(std::span<const float> logits, int id);

}  // namespace headscope::model
