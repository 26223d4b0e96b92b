#include "model/pass/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "model/files/error.h"
#include "model/kernels/kernels.h"
#include "model/kernels/product.h"
#include "model/maths/best.h"
#include "model/maths/sum.h"
#include "model/pass/shared_steps.h"

namespace headscope::model {

namespace {

/// NaN sorts last.
auto order_of_guess(const Guess& guess) {
  const bool is_nan = std::isnan(guess.logit);
  return std::tuple(is_nan, is_nan ? 0 : -guess.logit, guess.id);
}

using BestGuesses = Best<Guess, order_of_guess>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The number of logits that rank before that of `id`; none may be NaN.
int count_before(std::span<const float> logits, int id) {
  const auto own = logits.begin() + id;
  return static_cast<int>(std::count_if(logits.begin(), own, [&](float other) { return other >= *own; }) +
                          std::count_if(own, logits.end(), [&](float other) { return other > *own; }));
}

/// target: an id, or -1: none.
PositionStatistics statistics_of(std::span<const float> logits, int target, int top) {
  PositionStatistics result;
  result.log_sum_exp = log_sum_exp(logits);
  const auto probability = [&](float logit) { return std::exp(logit - result.log_sum_exp); };
  result.top = largest_logits(logits, top);
  for (Guess& guess : result.top) guess.probability = probability(guess.logit);
  result.next_logit = target < 0 ? std::numeric_limits<float>::quiet_NaN() : logits[target];
  result.next_probability = probability(result.next_logit);
  result.next_rank = target < 0 || std::isnan(result.log_sum_exp) ? -1 : count_before(logits, target);
  return result;
}

}  // namespace

std::vector<PositionStatistics> Transformer::statistics(const Run& run, int first, int count, int top,
                                                        Workspace& workspace, std::stop_token stop) const {
  check_positions(run, first, count);
  std::vector<float> rows;
  std::vector<int> next;
  for (int position = first; position < first + count; ++position) {
    const std::span<const float> row = run.resid(run.config.n_layer, position);
    rows.insert(rows.end(), row.begin(), row.end());
    next.push_back(position + 1 < run.length() ? run.tokens[position + 1] : -1);
  }
  std::vector<PositionStatistics> result;
  for (LensReading& reading : lens(rows, 1, next, top, workspace, stop, &run, first))
    result.push_back(std::move(reading.guesses));
  return result;
}

std::vector<LensReading> Transformer::lens(std::span<const float> rows, int depth,
                                           std::span<const int> targets, int top, Workspace& workspace,
                                           std::stop_token stop, const Run* of, int first) const {
  const Weights& weights = impl_->weights;
  Workspace::Impl& memory = workspace.impl();
  const int d_model = weights.config.n_embd, vocabulary = weights.config.vocab_size;
  const int positions = static_cast<int>(targets.size());
  const int at_once = std::max(1, kRowsOfLogits / depth);
  std::vector<LensReading> result(static_cast<std::size_t>(positions) * depth);
  for (int done = 0; done < positions; done += at_once) {
    if (stop.stop_requested()) throw Stopped();
    const int n = std::min(at_once, positions - done) * depth, first_row = done * depth;
    const ConstFloatRows given{rows.data() + std::ptrdiff_t{first_row} * d_model, n, d_model, d_model};
    const FloatRows both = memory.activations.rows(n, d_model + vocabulary),
                    normalized = both.middle_cols(0, d_model), logits = both.middle_cols(d_model, vocabulary);
    const Tap tap{of, first + done, depth};
    final_layer_norm(
        weights, [&](int i) { return given.row(i); }, tap, memory.workers, normalized);
    product(normalized, weights.lm_head, {}, memory.workers, logits);
    tap.edit({Site::logits}, logits);
    std::vector<Distribution> ends(depth > 1 ? n / depth : 0);
    memory.workers.parallel_for(static_cast<int>(ends.size()), [&](int i, float*) {
      ends[i] = Distribution(logits.row(i * depth + depth - 1));
    });
    memory.workers.parallel_for(n, [&](int i, float*) {
      LensReading& reading = result[first_row + i];
      reading.guesses = statistics_of(logits.row(i), targets[done + i / depth], top);
      const double log_sum = reading.guesses.log_sum_exp;
      const bool is_end = (i + 1) % depth == 0;
      reading.divergence = is_end ? log_sum - log_sum  // 0, or NaN where a logit is
                                  : ends[i / depth].divergence(logits.row(i), log_sum);
    });
  }
  return result;
}

Distribution::Distribution(std::span<const float> logits) {
  const double log_sum = log_sum_exp(logits);
  logs.assign(logits.begin(), logits.end());
  for (double& log : logs) log -= log_sum;
  probabilities = logs;
  for (double& p : probabilities) p = std::exp(p);
}

double Distribution::divergence(std::span<const float> logits, double log_sum) const {
  const double sum = sum_in_lanes<8>(logits.size(), [&](std::size_t i) {
    const double p = probabilities[i];
    return p == 0 ? 0 : p * (logs[i] - (static_cast<double>(logits[i]) - log_sum));
  });
  return sum < 0 ? 0 : sum;
}

double log_sum_exp(std::span<const float> logits) {
  const RowKernels kernels = fastest_kernels().rows;
  const int n = static_cast<int>(logits.size());
  const float largest = kernels.largest(logits.data(), n);
  // If all logits are -inf, -inf - -inf would be NaN.
  return largest == -kInfinity ? -kInfinity
                               : largest + std::log(kernels.sum_of_exp(logits.data(), n, largest));
}

std::vector<Guess> largest_logits(std::span<const float> logits, int count) {
  constexpr std::size_t kTogether = 64;
  const RowKernels kernels = fastest_kernels().rows;
  BestGuesses best(static_cast<std::size_t>(std::max(count, 0)));
  for (std::size_t first = 0; first < logits.size(); first += kTogether) {
    const auto some = logits.subspan(first, std::min(kTogether, logits.size() - first));
    const Guess* worst = best.worst();
    if (worst != nullptr && kernels.largest(some.data(), static_cast<int>(some.size())) < worst->logit)
      continue;
    for (std::size_t i = 0; i < some.size(); ++i) best.add({static_cast<int>(first + i), some[i], 0});
  }
  return best.sorted();
}

int rank_of(std::span<const float> logits, int id) {
  const RowKernels kernels = fastest_kernels().rows;
  if (std::isnan(kernels.largest(logits.data(), static_cast<int>(logits.size())))) return -1;
  return count_before(logits, id);
}

}  // namespace headscope::model
