#include "model/pass/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "model/files/error.h"
#include "model/kernels/kernels.h"
#include "model/kernels/product.h"
#include "model/maths/best.h"
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

/// Positions whose statistics are computed in one sweep over the vocabulary. A thread processes 1,024 ids at
/// a time, of which only one panel's logits exist at any moment.
constexpr int kPositionsPerSweep = 128;
constexpr int kPanelsPerPart = 16;

/// How many of `logits`, of ids first, first + 1 ..., rank before `id` with its logit.
int count_before(std::span<const float> logits, int first, int id, float logit) {
  const auto split = logits.begin() + std::clamp(id - first, 0, static_cast<int>(logits.size()));
  return static_cast<int>(std::count_if(logits.begin(), split, [&](float other) { return other >= logit; }) +
                          std::count_if(split, logits.end(), [&](float other) { return other > logit; }));
}

/// A sum of e^logit that does not overflow: sum * e^largest. NaN if a term is NaN.
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

/// The contribution of one part of the vocabulary to one row.
struct PartialStatistics {
  ExpSum total;
  ExpSum weighted;  ///< sum of e^f * (f - logit), f the logits of the row that ends its group
  int before = 0;   ///< number of logits that rank before the target's
};

/// The logits of some normalized rows, in one sweep over the vocabulary.
class Sweep {
 public:
  /// rows: [n, d_model]; targets: [n], ids, -1: none. `tap.depth`: rows per group, of which the last is the
  /// one that the others are compared with; 1: no comparison.
  Sweep(const Weights& weights, FloatRows rows, std::vector<int> targets, const Tap& tap, int top,
        Workspace::Impl& workspace)
      : head_(weights.lm_head),
        workers_(workspace.workers),
        count_(rows.rows),
        depth_(tap.depth),
        tap_(tap),
        normalized_(rows),
        next_ids_(std::move(targets)),
        next_logits_(static_cast<std::size_t>(count_), std::numeric_limits<float>::quiet_NaN()),
        parts_(static_cast<std::size_t>(count_) * part_count()),
        best_(static_cast<std::size_t>(count_) * workers_.threads(),
              BestGuesses(static_cast<std::size_t>(std::clamp(top, 0, weights.config.vocab_size)))) {
    workers_.reserve_scratch(product_scratch() + static_cast<std::size_t>(count_) * kPanelCols);
  }

  void go() {
    // The targets' logits are computed before the sweep, which counts ranks against them.
    workers_.parallel_for(count_, [&](int i, float* scratch) { look_up_next(i, scratch); });
    workers_.parallel_for_threads(
        part_count(), [&](int part, int thread, float* scratch) { sweep_part(part, thread, scratch); });
  }

  PositionStatistics of(int i) {
    ExpSum total;
    PositionStatistics result;
    int before = 0;
    for (int part = 0; part < part_count(); ++part) {
      total.add(part_at(part, i).total);
      before += part_at(part, i).before;
    }
    BestGuesses best = best_at(0, i);
    for (int thread = 1; thread < workers_.threads(); ++thread) best.add(best_at(thread, i));

    result.log_sum_exp = total.log();
    result.top = best.sorted();
    const auto probability = [&](float logit) { return std::exp(logit - result.log_sum_exp); };
    for (Guess& guess : result.top) guess.probability = probability(guess.logit);
    result.next_logit = next_logits_[i];
    result.next_probability = probability(result.next_logit);
    if (next_ids_[i] >= 0 && !std::isnan(result.log_sum_exp)) {
      result.next_rank = before;
    }
    return result;
  }

  /// KL(end || row), `end` being the last row of the row's group. Clamped at 0 against rounding.
  double divergence(int i) {
    const int end = i / depth_ * depth_ + depth_ - 1;
    ExpSum from, to, weighted;
    for (int part = 0; part < part_count(); ++part) {
      from.add(part_at(part, end).total);
      to.add(part_at(part, i).total);
      weighted.add(part_at(part, i).weighted);
    }
    const double to_itself = from.log() - from.log();  // 0, or NaN where a logit is
    if (i == end) return to_itself;
    const double scale = std::exp(static_cast<double>(weighted.largest) - from.largest);
    const double found = weighted.sum * scale / from.sum - from.log() + to.log();
    return found < 0 ? 0 : found;
  }

 private:
  int part_count() const { return (head_.panels() + kPanelsPerPart - 1) / kPanelsPerPart; }
  PartialStatistics& part_at(int part, int i) { return parts_[part * count_ + i]; }
  BestGuesses& best_at(int thread, int i) { return best_[thread * count_ + i]; }

  /// Logits of one panel's ids, for rows [first, first + count) of normalized_.
  FloatRows logits_of(int panel, int first, int count, float* scratch) const {
    const ConstFloatRows x = normalized_.middle_rows(first, count);
    const int cols = std::min(kPanelCols, head_.cols - panel * kPanelCols);
    const FloatRows logits{scratch + product_scratch(), x.rows, cols, kPanelCols};
    product_with_panel(workers_.kernels(), x, head_, panel, scratch, logits);
    Tap tap = tap_;
    tap.first += first / depth_;
    tap.edit({Site::logits}, logits, 0, panel * kPanelCols);
    return logits;
  }

  void look_up_next(int i, float* scratch) {
    const int id = next_ids_[i];
    if (id < 0) return;
    const FloatRows logits = logits_of(id / kPanelCols, i, 1, scratch);
    next_logits_[i] = logits.row(0)[id % kPanelCols];
  }

  void sweep_part(int part, int thread, float* scratch) {
    const int end = std::min((part + 1) * kPanelsPerPart, head_.panels());
    for (int panel = part * kPanelsPerPart; panel < end; ++panel) {
      const FloatRows logits = logits_of(panel, 0, count_, scratch);
      for (int i = 0; i < count_; ++i) {
        take(logits.row(i), panel * kPanelCols, i, part_at(part, i), best_at(thread, i));
      }
      for (int last = depth_ - 1; depth_ > 1 && last < count_; last += depth_) compare(logits, last, part);
    }
  }

  /// Compares one panel's logits of a group's rows with those of its last row.
  void compare(const FloatRows& logits, int end, int part) {
    const std::span<const float> last = logits.row(end);
    const float largest = workers_.kernels().rows.largest(last.data(), static_cast<int>(last.size()));
    if (largest == -kInfinity) return;
    std::array<double, kPanelCols> powers{};
    for (std::size_t j = 0; j < last.size(); ++j)
      powers[j] = std::exp(static_cast<double>(last[j]) - largest);
    for (int i = end - depth_ + 1; i < end; ++i) {
      const std::span<const float> row = logits.row(i);
      ExpSum weighted{largest, 0};
      for (std::size_t j = 0; j < last.size(); ++j)
        if (powers[j] != 0) weighted.sum += powers[j] * (static_cast<double>(last[j]) - row[j]);
      part_at(part, i).weighted.add(weighted);
    }
  }

  void take(std::span<const float> logits, int first_id, int i, PartialStatistics& part,
            BestGuesses& best) const {
    const RowKernels& kernels = workers_.kernels().rows;
    const ExpSum sum = exp_sum(kernels, logits);
    part.total.add(sum);
    if (next_ids_[i] >= 0) part.before += count_before(logits, first_id, next_ids_[i], next_logits_[i]);
    if (const Guess* worst = best.worst(); worst != nullptr && sum.largest < worst->logit) return;
    for (std::size_t j = 0; j < logits.size(); ++j) best.add({first_id + static_cast<int>(j), logits[j], 0});
  }

  const PanelMatrix& head_;
  Workers& workers_;
  int count_, depth_;
  Tap tap_;
  FloatRows normalized_;
  std::vector<int> next_ids_;             // [count], -1: none
  std::vector<float> next_logits_;        // [count]
  std::vector<PartialStatistics> parts_;  // [parts, count]
  std::vector<BestGuesses> best_;         // [threads, count]
};

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
  const int d_model = weights.config.n_embd, positions = static_cast<int>(targets.size());
  const int at_once = std::max(1, kPositionsPerSweep / depth);
  std::vector<LensReading> result;
  result.reserve(static_cast<std::size_t>(positions) * depth);
  for (int done = 0; done < positions; done += at_once) {
    if (stop.stop_requested()) throw Stopped();
    const int n = std::min(at_once, positions - done) * depth;
    const ConstFloatRows given{rows.data() + static_cast<std::ptrdiff_t>(done) * depth * d_model, n, d_model,
                               d_model};
    const FloatRows normalized = memory.activations.rows(n, d_model);
    const Tap tap{of, first + done, depth};
    final_layer_norm(weights, given, tap, memory.workers, normalized);
    std::vector<int> wanted;
    for (int i = 0; i < n; ++i) wanted.push_back(targets[done + i / depth]);
    Sweep sweep(weights, normalized, std::move(wanted), tap, top, memory);
    sweep.go();
    for (int i = 0; i < n; ++i) result.push_back({sweep.of(i), sweep.divergence(i)});
  }
  return result;
}

double log_sum_exp(std::span<const float> logits) {
  return exp_sum(fastest_kernels().rows, logits).log();
}

std::vector<Guess> largest_logits(std::span<const float> logits, int count) {
  BestGuesses best(static_cast<std::size_t>(std::max(count, 0)));
  for (std::size_t i = 0; i < logits.size(); ++i) best.add({static_cast<int>(i), logits[i], 0});
  return best.sorted();
}

int rank_of(std::span<const float> logits, int id) {
  const RowKernels kernels = fastest_kernels().rows;
  if (std::isnan(kernels.largest(logits.data(), static_cast<int>(logits.size())))) return -1;
  return count_before(logits, 0, id, logits[id]);
}

}  // namespace headscope::model
