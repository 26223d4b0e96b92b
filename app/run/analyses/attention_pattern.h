#pragma once
#include <cstddef>
#include <iterator>
#include <vector>

#include "app/run/analyses/patterns.h"
#include "app/run/question.h"
#include "model/pass/transformer.h"
#include "viz/scene/matrix.h"

namespace headscope::app {

/// A head's pattern, [T, K] row-major (row: query, column: key).
struct Pattern {
  int length = 0;  ///< T: queries
  std::vector<float> values;
  MaskedCells masked;
  /// K: the number of keys. Equals `length` except for pattern files whose keys are other tokens.
  int keys() const { return length > 0 ? static_cast<int>(std::ssize(values) / length) : 0; }
  std::size_t bytes() const { return bytes_of(values, masked.cells); }
  viz::Matrix matrix() const { return viz::Matrix::row_major(values, length, keys()); }
};

struct PatternOf {
  using Answer = Pattern;
  static constexpr std::string_view kName = "attention pattern";
  static constexpr bool kQuick = true;
  static constexpr Capabilities kNeeds = Capability::patterns;
  int layer = 0;
  int head = 0;
  bool operator==(const PatternOf&) const = default;
  Pattern compute(const PromptRun& run, const Computation<Pattern>& computation) const;
  Pattern difference(const Pattern& after, const Pattern& before, const PromptRun& run) const;
};

/// After minus before: signed differences between a cell and its counterpart. Masked if both are masked, or
/// if a token has no counterpart.
Pattern pattern_difference(const Pattern& after, const Pattern& before, const PromptRun& run);

// Two patterns of a head, compared cell by cell: each query and key with its counterpart.

/// Calls visit(cell, counterpart, whether both are masked) for each pair of a query and a key; the
/// counterpart is -1 if one of the tokens has no counterpart.
template <class Visit>
void for_each_pair(const MaskedCells& after, const MaskedCells& before, int queries, int keys,
                   int baseline_keys, const PromptRun& run, const Visit& visit) {
  const auto there = [](const std::vector<int>& aligned, int position) {
    return aligned.empty() ? position : aligned[position];
  };
  for (int query = 0; query < queries; ++query) {
    const int row = there(run.aligned, query);
    for (int key = 0; key < keys; ++key) {
      const int col = there(aligned_keys(run), key);
      const bool known = row >= 0 && col >= 0;
      visit(std::ptrdiff_t{query} * keys + key, known ? std::ptrdiff_t{row} * baseline_keys + col : -1,
            !known || (after(query, key) && before(row, col)));
    }
  }
}

/// Clears the list of masked cells if it contains exactly those above the diagonal, which are masked anyway.
void simplify(MaskedCells& masked);

enum class Stage { scores, scaled, masked, pattern };
inline constexpr int kStages = 4;

/// The four stages of a head's attention.
struct Stages {
  model::AttentionStages values;
  MaskedCells masked;
  std::size_t bytes() const {
    return bytes_of(values.scores, values.scaled, values.masked, values.pattern, masked.cells);
  }
  viz::Matrix matrix(Stage stage) const;
};

struct StagesOf {
  using Answer = Stages;
  static constexpr std::string_view kName = "attention stages";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  bool operator==(const StagesOf&) const = default;
  Stages compute(const PromptRun& run, const Computation<Stages>& computation) const;
  /// Masked like pattern_difference; NaN if a token has no counterpart, ±inf where only one side is
  /// masked.
  Stages difference(const Stages& after, const Stages& before, const PromptRun& run) const;
};

/// How one query's weights are computed, step by step.
struct SoftmaxRow : model::AttentionRow {
  std::size_t bytes() const { return bytes_of(scores, scaled, powers, weights); }
};

/// The softmax of scale * scores, scale > 0, by the model's kernel.
std::vector<float> softmax_of(std::vector<float> scores, float scale);

struct SoftmaxRowOf {
  using Answer = SoftmaxRow;
  static constexpr std::string_view kName = "attention of a query";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  int query = 0;       ///< position in the run
  int least_keys = 0;  ///< minimum number of keys in the row, as far as the run has them; keys beyond the
                       ///< query's own are masked
  bool operator==(const SoftmaxRowOf&) const = default;
  SoftmaxRow compute(const PromptRun& run, const Computation<SoftmaxRow>& computation) const;
};

// Attention measured by its output, not only by its weights.

/// How much a head writes from each key: the norm of weight times value through the head's rows of
/// c_proj.weight (Kobayashi et al. 2020, "Attention is Not Only a Weight"). Values include their biases and
/// edits; the answer's cells are these norms.
struct WeightedValuesOf {
  using Answer = Pattern;
  static constexpr std::string_view kName = "weighted values";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  bool operator==(const WeightedValuesOf&) const = default;
  Pattern compute(const PromptRun& run, const Computation<Pattern>& computation) const;
  Pattern difference(const Pattern& after, const Pattern& before, const PromptRun& run) const;
};

/// Attention rollout (Abnar & Zuidema 2020, "Quantifying Attention Flow in Transformers"): how much of each
/// position's embedding reaches each position by the end of a layer, if all heads count equally and the
/// residual stream counts half: the product of 0.5 I + 0.5 mean over heads of the patterns, from layer 0 on.
/// Rows add up to 1 if the patterns' rows do.
struct RolloutOf {
  using Answer = Pattern;
  static constexpr std::string_view kName = "attention rollout";
  static constexpr Capabilities kNeeds = Capability::patterns;
  int layer = 0;  ///< the last layer included
  bool operator==(const RolloutOf&) const = default;
  /// Throws RunError if keys are not the queries' tokens, and Stopped.
  Pattern compute(const PromptRun& run, const Computation<Pattern>& computation) const;
  Pattern difference(const Pattern& after, const Pattern& before, const PromptRun& run) const;
};

}  // namespace headscope::app
