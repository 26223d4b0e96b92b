#pragma once
#include <span>
#include <stop_token>
#include <vector>

#include "model/files/weights.h"
#include "model/kernels/workspace.h"
#include "model/pass/end_of_pass.h"
#include "model/pass/run.h"
#include "model/pass/transformer.h"

namespace headscope::model {

/// Transformer::logits.
void compute_logits(const Weights& weights, const Run& run, int first, int count, Workspace::Impl& workspace,
                    std::span<float> out);

/// Transformer::unembed.
void unembed(const Weights& weights, std::span<const float> vector, Workspace::Impl& workspace,
             std::span<float> out);

/// Transformer::statistics.
std::vector<PositionStatistics> compute_statistics(const Weights& weights, const Run& run, int first,
                                                   int count, int top, Workspace::Impl& workspace,
                                                   const std::stop_token& stop);

/// Transformer::lens.
std::vector<LensReading> read_lens(const Weights& weights, std::span<const float> rows, const EndOfPass& end,
                                   std::span<const int> targets, int top, Workspace::Impl& workspace,
                                   const std::stop_token& stop);

/// log(sum(exp(logits))), summed in double. NaN if a logit is NaN.
double log_sum_exp(std::span<const float> logits);

/// The `count` largest logits (all if there are fewer), best first, ties by the smaller id, NaN last. Their
/// probabilities are left at 0.
std::vector<Guess> largest_logits(std::span<const float> logits, int count);

/// The number of logits that rank before that of `id` in the order of largest_logits; -1 if a logit is NaN.
int rank_of(std::span<const float> logits, int id);

}  // namespace headscope::model
