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

/// Rows whose logits are computed together.
constexpr int kRows = 128;

/// Ids whose logits are added up at a time, whatever the number of rows and threads.
constexpr int kIds = 1024;

/// Ids whose logits one product computes: so many for every two threads, more with fewer rows than kRows,
/// that they are still in the L2 caches when they are added up.
int ids_at_once(int rows, int threads) {
  return kIds * divide_up(kRows * threads, 2 * rows);
}

/// What lies between two rows of the block, in floats, so that they do not compete for the same cache sets:
/// an odd number of cache lines, for the usual widths of a model.
constexpr int kGap = 16;

/// A sum of e^x that does not overflow: sum * e^largest. NaN if a term is NaN.
struct ExpSum {
  float largest = -kInfinity;
  double sum = 0;

  void add(ExpSum other) {
    if (other.largest > largest || std::isnan(other.largest)) std::swap(*this, other);
    if (other.sum != 0) sum += other.sum * std::exp(static_cast<double>(other.largest) - largest);
  }
  double log() const { return largest + std::log(sum); }
};

ExpSum exp_sum(const RowKernels& kernels, std::span<const float> logits) {
  const int n = static_cast<int>(logits.size());
  ExpSum result{kernels.largest(logits.data(), n), 0};
  // If all logits are -inf, -inf - -inf would be NaN.
  if (result.largest != -kInfinity) result.sum = kernels.sum_of_exp(logits.data(), n, result.largest);
  return result;
}

/// How many of `logits`, of ids first, first + 1 ..., rank before `id` with its logit; none may be NaN.
int count_before(std::span<const float> logits, int first, int id, float logit) {
  const auto split = logits.begin() + std::clamp(id - first, 0, static_cast<int>(logits.size()));
  return static_cast<int>(std::count_if(logits.begin(), split, [&](float other) { return other >= logit; }) +
                          std::count_if(split, logits.end(), [&](float other) { return other > logit; }));
}

/// Adds logits of ids first, first + 1 ...
void add_guesses(const RowKernels& kernels, std::span<const float> logits, int first, BestGuesses& best) {
  constexpr std::size_t kTogether = 64;
  for (std::size_t done = 0; done < logits.size(); done += kTogether) {
    const auto some = logits.subspan(done, std::min(kTogether, logits.size() - done));
    const Guess* worst = best.worst();
    if (worst != nullptr && kernels.largest(some.data(), static_cast<int>(some.size())) < worst->logit)
      continue;
    for (std::size_t i = 0; i < some.size(); ++i) best.add({first + static_cast<int>(done + i), some[i], 0});
  }
}

/// What is known of a row from the logits seen so far.
struct Seen {
  int target = -1;  ///< an id, -1: none
  float target_logit = std::numeric_limits<float>::quiet_NaN();
  int before_target = 0;  ///< how many rank before it
  BestGuesses best;
  ExpSum all = {};
  /// Sum of e^f (f - logit), f the logits at the end of the stream; of the end itself the sum of e^f, of the
  /// same powers, so that their rounding does not count where logits are far apart.
  ExpSum weighted = {};

  void add(const RowKernels& kernels, std::span<const float> logits, int first) {
    all.add(exp_sum(kernels, logits));
    if (target >= 0) before_target += count_before(logits, first, target, target_logit);
    add_guesses(kernels, logits, first, best);
  }

  PositionStatistics statistics() const {
    PositionStatistics result;
    result.log_sum_exp = all.log();
    const auto probability = [&](float logit) { return std::exp(logit - result.log_sum_exp); };
    result.top = best.sorted();
    for (Guess& guess : result.top) guess.probability = probability(guess.logit);
    result.next_logit = target_logit;
    result.next_probability = probability(target_logit);
    result.next_rank = target < 0 || std::isnan(result.log_sum_exp) ? -1 : before_target;
    return result;
  }

  /// KL(end || this), clamped at 0 against rounding.
  double divergence_from(const Seen& end) const {
    const double log_sum = end.all.log(), to_itself = log_sum - log_sum;  // 0, or NaN where a logit is
    if (&end == this) return to_itself;
    const double found = weighted.sum / end.weighted.sum - log_sum + all.log();
    return found < 0 ? 0 : found;
  }
};

/// Finds the targets' logits, which ranks are counted against; `logits`: of the first ids, as edited.
void find_targets(ConstFloatRows normalized, const PanelMatrix& head, ConstFloatRows logits, Workers& workers,
                  std::span<Seen> seen) {
  workers.for_rows(normalized.rows, [&](int i) {
    Seen& row = seen[i];
    if (row.target >= logits.cols) {
      std::vector<float> column(normalized.cols);
      row.target_logit = product_with_column(workers.kernels(), normalized.row(i), head, row.target, column);
    } else if (row.target >= 0) {
      row.target_logit = logits.row(i)[row.target];
    }
  });
}

/// Adds what `weighted` is of, for the rows of a position, of which the last is the end of the stream.
void compare_with_end(const RowKernels& kernels, ConstFloatRows logits, std::span<Seen> seen) {
  const std::span<const float> end = logits.row(logits.rows - 1);
  const float largest = kernels.largest(end.data(), logits.cols);
  if (largest == -kInfinity) return;
  std::vector<float> powers(end.begin(), end.end());
  for (float& power : powers) power -= largest;
  kernels.exp(powers.data(), logits.cols);
  const auto add = [&](int i, const auto& term) {
    seen[i].weighted.add({largest, sum_in_lanes<8>(powers.size(), term)});
  };
  add(logits.rows - 1, [&](std::size_t id) { return powers[id]; });
  for (int i = 0; i + 1 < logits.rows; ++i)
    add(i, [&, row = logits.row(i)](std::size_t id) {
      return powers[id] == 0 ? 0 : powers[id] * (static_cast<double>(end[id]) - row[id]);
    });
}

/// Adds logits of ids first, first + 1 ... to what is known of the rows, `depth` of them for each position.
void add_logits(ConstFloatRows logits, int first, int depth, Workers& workers, std::span<Seen> seen) {
  const RowKernels& kernels = workers.kernels().rows;
  const auto for_parts = [&](ConstFloatRows rows, const auto& body) {
    for (int done = 0; done < rows.cols; done += kIds)
      body(rows.middle_cols(done, std::min(kIds, rows.cols - done)), first + done);
  };
  workers.for_rows(logits.rows, [&](int i) {
    for_parts(logits.middle_rows(i, 1),
              [&](ConstFloatRows row, int id) { seen[i].add(kernels, row.row(0), id); });
  });
  workers.for_rows(depth > 1 ? logits.rows / depth : 0, [&](int position) {
    for_parts(logits.middle_rows(position * depth, depth), [&](ConstFloatRows rows, int) {
      compare_with_end(kernels, rows, seen.subspan(position * depth, depth));
    });
  });
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
  const int at_once = std::max(1, kRows / depth);
  std::vector<LensReading> result;
  result.reserve(static_cast<std::size_t>(positions) * depth);
  for (int done = 0; done < positions; done += at_once) {
    if (stop.stop_requested()) throw Stopped();
    const int n = std::min(at_once, positions - done) * depth;
    const int width = Tap{of}.edits({Site::logits})  // edits need the logits of all ids
                          ? vocabulary
                          : std::min(ids_at_once(n, memory.workers.threads()), vocabulary);
    const ConstFloatRows given{rows.data() + std::ptrdiff_t{done} * depth * d_model, n, d_model, d_model};
    const FloatRows block = memory.activations.rows(n, d_model + width + kGap),
                    normalized = block.middle_cols(0, d_model);
    const Tap tap{of, first + done, depth};
    final_layer_norm(
        weights, [&](int i) { return given.row(i); }, tap, memory.workers, normalized);
    std::vector<Seen> seen;
    for (int i = 0; i < n; ++i)
      seen.push_back({.target = targets[done + i / depth], .best = BestGuesses(std::max(top, 0))});
    for (int id = 0; id < vocabulary; id += width) {
      const FloatRows logits = block.middle_cols(d_model, std::min(width, vocabulary - id));
      product(normalized, weights.lm_head, {0, id}, memory.workers, logits);
      tap.at({Site::logits}, logits);
      if (id == 0) find_targets(normalized, weights.lm_head, logits, memory.workers, seen);
      add_logits(logits, id, depth, memory.workers, seen);
    }
    for (int i = 0; i < n; ++i)
      result.push_back({seen[i].statistics(), seen[i].divergence_from(seen[i / depth * depth + depth - 1])});
  }
  return result;
}

double log_sum_exp(std::span<const float> logits) {
  return exp_sum(fastest_kernels().rows, logits).log();
}

std::vector<Guess> largest_logits(std::span<const float> logits, int count) {
  BestGuesses best(static_cast<std::size_t>(std::max(count, 0)));
  add_guesses(fastest_kernels().rows, logits, 0, best);
  return best.sorted();
}

int rank_of(std::span<const float> logits, int id) {
  const RowKernels kernels = fastest_kernels().rows;
  if (std::isnan(kernels.largest(logits.data(), static_cast<int>(logits.size())))) return -1;
  return count_before(logits, 0, id, logits[id]);
}

}  // namespace headscope::model
