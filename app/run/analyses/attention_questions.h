#pragma once
#include <iterator>
#include <vector>

#include "app/run/analyses/patterns.h"
#include "app/run/question.h"
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
  static constexpr std::string_view kWork = "attention pattern";
  static constexpr bool kQuick = true;
  static constexpr Capabilities kNeeds = Capability::patterns;
  int layer = 0;
  int head = 0;
  bool operator==(const PatternOf&) const = default;
  Pattern compute(const PromptRun& run, const Work<Pattern>& work) const;
  Pattern difference(const Pattern& after, const Pattern& before, const PromptRun& run) const;
};

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
  static constexpr std::string_view kWork = "stages of attention";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  bool operator==(const StagesOf&) const = default;
  Stages compute(const PromptRun& run, const Work<Stages>& work) const;
  /// Masked like pattern_difference; NaN where a token has no counterpart, ±inf where only one side is
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
  static constexpr std::string_view kWork = "attention of a query";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  int query = 0;       ///< position in the run
  int least_keys = 0;  ///< minimum number of keys in the row, as far as the run has them; keys beyond the
                       ///< query's own are masked
  bool operator==(const SoftmaxRowOf&) const = default;
  SoftmaxRow compute(const PromptRun& run, const Work<SoftmaxRow>& work) const;
};

/// The input of a layer's attention at one position, as the model computed it.
struct AttentionInput {
  std::vector<float> residual;  ///< [d_model]: the residual stream before the block
  std::vector<float> normed;    ///< [d_model]: ln_1 of it
  std::vector<float> bias;      ///< [3 d_model]: c_attn's
  std::vector<float> output;    ///< [3 d_model]: normed * c_attn.weight + bias: q, k and v of all heads
  std::size_t bytes() const { return bytes_of(residual, normed, bias, output); }
};

struct AttentionInputOf {
  using Answer = AttentionInput;
  static constexpr std::string_view kWork = "query, key and value";
  static constexpr bool kQuick = true;
  int layer = 0;
  int position = 0;  ///< in the run
  bool operator==(const AttentionInputOf&) const = default;
  AttentionInput compute(const PromptRun& run, const Work<AttentionInput>& work) const;
  AttentionInput difference(const AttentionInput& after, const AttentionInput& before,
                            const PromptRun& run) const;
};

/// The output of a layer's attention at one position, as the model computed it.
struct MergedHeads {
  model::AttentionOutput of;
  std::vector<float> bias;    ///< [d_model]: c_proj's
  std::vector<float> before;  ///< [d_model]: the residual stream before the block
  std::vector<float> after;   ///< [d_model]: with what attention writes
  std::size_t bytes() const { return bytes_of(of.z, of.results, of.out, bias, before, after); }
};

struct MergedHeadsOf {
  using Answer = MergedHeads;
  static constexpr std::string_view kWork = "output of attention";
  static constexpr bool kQuick = true;
  int layer = 0;
  int position = 0;  ///< in the run
  bool operator==(const MergedHeadsOf&) const = default;
  MergedHeads compute(const PromptRun& run, const Work<MergedHeads>& work) const;
  /// c_proj is linear: the differences of the parts add up to the difference of the sum.
  MergedHeads difference(const MergedHeads& after, const MergedHeads& before, const PromptRun& run) const;
};

// Signed differences of attention between a run and its baseline, cell by cell, over the tokens that
// correspond to each other.

/// After minus before. Masked where both sides are masked, and where a token has no counterpart.
Pattern pattern_difference(const Pattern& after, const Pattern& before, const PromptRun& run);

}  // namespace headscope::app
