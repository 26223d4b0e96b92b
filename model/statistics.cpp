#include "model/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "model/error.h"
#include "model/forward.h"
#include "model/kernels.h"
#include "model/product.h"

namespace headscope::model {
namespace {

/// Positions whose logits are held at a time.
constexpr int kPositionsPerBlock = 64;

void check_positions(const Run& run, int first, int count) {
  if (first >= 0 && count >= 0 && first <= run.length() - count) return;
  throw RunError("the run has the positions 0 to " + std::to_string(run.length() - 1) + ", but " +
                 std::to_string(first) + " to " + std::to_string(first + count - 1) + " were asked for");
}

bool better(const Guess& a, const Guess& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

/// `next`: the id that does follow, or -1.
PositionStatistics statistics_of(std::span<const float> logits, int next, int top) {
  PositionStatistics result;
  result.log_sum_exp = log_sum_exp(logits);
  const auto probability = [&](float logit) { return std::exp(logit - result.log_sum_exp); };
  result.top = largest_logits(logits, top);
  for (Guess& guess : result.top) guess.probability = probability(guess.logit);
  if (next < 0) {
    result.next_logit = std::numeric_limits<float>::quiet_NaN();
    result.next_probability = std::numeric_limits<double>::quiet_NaN();
  } else {
    result.next_logit = logits[static_cast<std::size_t>(next)];
    result.next_probability = probability(result.next_logit);
    result.next_rank = rank_of(logits, next);
  }
  return result;
}

/// Logits of positions [first, first + out.rows): out [rows, vocab].
void logits_of_block(const Weights& weights, const Run& run, int first, Workspace::Impl& workspace,
                     FloatRows out) {
  reserve_scratch(weights, workspace.workers);
  const FloatRows normalized = workspace.normalized.rows(out.rows, weights.config.n_embd);
  final_layer_norm(weights, run, first, workspace.workers, normalized);
  product_with_columns(normalized, weights.lm_head, 0, workspace.workers, out);
}

}  // namespace

void compute_logits(const Weights& weights, const Run& run, int first, int count, Workspace::Impl& workspace,
                    std::span<float> out) {
  check_positions(run, first, count);
  const int vocabulary = weights.config.vocab_size;
  const FloatRows rows{out.data(), count, vocabulary, vocabulary};
  for (int done = 0; done < count; done += kPositionsPerBlock) {
    const int n = std::min(kPositionsPerBlock, count - done);
    logits_of_block(weights, run, first + done, workspace, rows.middle_rows(done, n));
  }
}

std::vector<PositionStatistics> compute_statistics(const Weights& weights, const Run& run, int first,
                                                   int count, int top, Workspace::Impl& workspace,
                                                   const std::stop_token& stop) {
  check_positions(run, first, count);
  std::vector<PositionStatistics> result(static_cast<std::size_t>(count));
  for (int done = 0; done < count; done += kPositionsPerBlock) {
    if (stop.stop_requested()) throw Stopped();
    const int n = std::min(kPositionsPerBlock, count - done);
    const FloatRows logits = workspace.logits.rows(n, weights.config.vocab_size);
    logits_of_block(weights, run, first + done, workspace, logits);
    workspace.workers.parallel_for(n, [&](int i, Buffer&) {
      const int pos = first + done + i;
      const int next = pos + 1 < run.length() ? run.tokens[static_cast<std::size_t>(pos + 1)] : -1;
      result[static_cast<std::size_t>(done + i)] = statistics_of(logits.row(i), next, top);
    });
  }
  return result;
}

double log_sum_exp(std::span<const float> logits) {
  constexpr std::size_t kLanes = 16;
  float largest = -std::numeric_limits<float>::infinity();
  for (const float logit : logits) largest = logit > largest ? logit : largest;

  float terms[kLanes];
  double sums[kLanes] = {};
  const std::size_t whole = logits.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) terms[lane] = exp(logits[i + lane] - largest);
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += terms[lane];
  }
  for (std::size_t i = whole; i < logits.size(); ++i) sums[i - whole] += exp(logits[i] - largest);
  double total = 0;
  for (const double sum : sums) total += sum;
  return largest + std::log(total);
}

std::vector<Guess> largest_logits(std::span<const float> logits, int count) {
  std::vector<Guess> best;
  const auto wanted = std::min(static_cast<std::size_t>(std::max(count, 0)), logits.size());
  if (wanted == 0) return best;
  best.reserve(wanted);
  // A heap with the worst of the best at its front.
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const Guess guess{static_cast<int>(i), logits[i], 0};
    if (best.size() == wanted) {
      if (!better(guess, best.front())) continue;
      std::pop_heap(best.begin(), best.end(), better);
      best.pop_back();
    }
    best.push_back(guess);
    std::push_heap(best.begin(), best.end(), better);
  }
  std::sort_heap(best.begin(), best.end(), better);
  return best;
}

int rank_of(std::span<const float> logits, int id) {
  const float logit = logits[static_cast<std::size_t>(id)];
  const auto split = logits.begin() + id;
  const auto before = std::count_if(logits.begin(), split, [&](float other) { return other >= logit; });
  return static_cast<int>(before +
                          std::count_if(split, logits.end(), [&](float other) { return other > logit; }));
}

}  // namespace headscope::model
