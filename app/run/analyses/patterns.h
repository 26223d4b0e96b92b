#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <type_traits>
#include <vector>

#include "app/run/prompt_run.h"
#include "app/run/question.h"
#include "model/pass/transformer.h"
#include "viz/scene/matrix.h"

// Attention patterns of a run, recomputed from its queries and keys or read from a file, and their masks.
namespace headscope::app {

/// The mask of a head's pattern. A cell is masked if its score is −∞ and no edit gave it a weight.
struct MaskedCells {
  std::vector<std::uint8_t> cells;  ///< [T, K] row-major, 1: masked; empty: the causal mask
  int length = 0;                   ///< K: keys

  bool causal() const { return cells.empty(); }
  bool operator()(int query, int key) const {
    return causal() ? key > query : cells[std::ptrdiff_t{query} * length + key] != 0;
  }
  /// One past the query's last unmasked key, and at least one past the query itself.
  int end_of(int query) const;
  int count_of(int query) const;  ///< number of unmasked keys
};

/// Layer by layer.
std::vector<model::HeadIndex> all_heads(const model::Config& config);

/// The pattern of one head, [T, K] with K = key_count(run), into `out`.
void pattern_of(const PromptRun& run, int layer, int head, std::span<float> out);

/// The patterns of several heads, one head per thread: calls visit(index in `heads`, first query, rows [n,
/// K]) for blocks of a head's queries, in order. Throws as Transformer::patterns does.
void patterns_of(const PromptRun& run, std::span<const model::HeadIndex> heads, const Resources& with,
                 const model::PatternVisitor& visit);

/// The mask of some rows of a head's pattern, starting with `first_query`: [rows, K], 1: masked. Empty: the
/// causal mask.
std::vector<std::uint8_t> masked_cells(const PromptRun& run, model::HeadIndex head, int first_query,
                                       model::ConstFloatRows weights);
/// The mask of a whole pattern, [T, K].
MaskedCells masked_cells(const PromptRun& run, model::HeadIndex head, std::span<const float> pattern);

/// Whether some query of a head may see keys after it.
bool sees_later(const PromptRun& run, model::HeadIndex head);

/// One past the last key that a head's query may have weight on.
int end_of_keys(const PromptRun& run, model::HeadIndex head, int query);

/// Whether a query may have weight on a key, even if it has none: always for keys up to the query; for later
/// keys if edits unmask them, or a pattern file has no mask.
bool may_see(const PromptRun& run, model::HeadIndex head, int query, int key);
/// Whether an edit is about a head: its queries, keys, values, scores, mask, pattern or output.
bool acts_on_head(const model::Edit& edit, model::HeadIndex head);
/// Whether an edit of the run is about a head, at one of these sites.
bool edits_head(const PromptRun& run, model::HeadIndex head, std::initializer_list<model::Site> sites);

/// A head's pattern, [T, K] row-major (row: query, column: key).
struct Pattern {
  int length = 0;  ///< T: queries
  std::vector<float> values;
  MaskedCells masked;
  /// K: the number of keys. Equals `length` except for pattern files whose keys are other tokens.
  int keys() const { return length > 0 ? static_cast<int>(std::ssize(values) / length) : 0; }
  std::size_t bytes() const { return bytes_of(values, masked.cells); }
  viz::Matrix matrix() const { return viz::Matrix::row_major(values, length, keys()); }
  /// Signed differences between a cell and its counterpart. Masked if both are masked, or if a token has no
  /// counterpart.
  Pattern minus(const Pattern& before, const PromptRun& run) const;
};

struct PatternOf : HeadQuestion {
  static constexpr std::string_view kName = "attention pattern";
  static constexpr Capability kNeeds = Capability::patterns;
  Pattern compute(const PromptRun& run, const Computation<Pattern>& computation) const;
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
  /// Masked like the difference of patterns; NaN if a token has no counterpart, ±inf where only one side is
  /// masked.
  Stages minus(const Stages& before, const PromptRun& run) const;
};

struct StagesOf : HeadQuestion {
  static constexpr std::string_view kName = "attention stages";
  Stages compute(const PromptRun& run, const Computation<Stages>& computation) const;
};

/// Of which heads attention is shown: one; all of its layer or of the model, cell by cell their mean; or of
/// its layer the largest in each cell.
enum class Heads { one, layer_mean, mean, layer_max };

/// The answers to a question about a head, of several heads together. With edits of masks, cells are masked
/// in which no head has a weight.
template <class Q>
struct OverHeads {
  static constexpr std::string_view kName = "attention of several heads";
  static constexpr Capability kNeeds =
      std::is_same_v<Q, PatternOf> ? Capability::patterns : Capability::weights;
  Heads heads = Heads::layer_mean;
  int layer = 0;  ///< 0 for those of the model
  bool operator==(const OverHeads&) const = default;
  /// Throws Stopped.
  AnswerOf<Q> compute(const PromptRun& run, const Computation<AnswerOf<Q>>& computation) const;
};

/// How one query's weights are computed, step by step.
struct SoftmaxRow : model::AttentionRow {
  std::size_t bytes() const { return bytes_of(scores, scaled, powers, weights); }
};

/// The softmax of scale * scores, scale > 0, by the model's kernel.
std::vector<float> softmax_of(std::vector<float> scores, float scale);

struct SoftmaxRowOf : HeadQuestion {
  static constexpr std::string_view kName = "attention of a query";
  int query = 0;     ///< position in the run
  int min_keys = 0;  ///< minimum number of keys in the row, as far as the run has them; keys beyond the
                     ///< query's own are masked
  bool operator==(const SoftmaxRowOf&) const = default;
  SoftmaxRow compute(const PromptRun& run, const Computation<SoftmaxRow>& computation) const;
};

// Attention measured by its output, not only by its weights.

/// How much a head writes from each key: the norm of weight times value through the head's rows of
/// c_proj.weight (Kobayashi et al. 2020, "Attention is Not Only a Weight"). Values include their biases and
/// edits; the answer's cells are these norms.
struct WeightedValuesOf : HeadQuestion {
  static constexpr std::string_view kName = "weighted values";
  Pattern compute(const PromptRun& run, const Computation<Pattern>& computation) const;
};

/// Attention rollout (Abnar & Zuidema 2020, "Quantifying Attention Flow in Transformers"): how much of each
/// position's embedding reaches each position by the end of a layer: the product of 0.5 I + 0.5 mean over
/// heads of the patterns, from layer 0 on. Rows add up to 1 if the patterns' rows do.
struct RolloutOf {
  static constexpr std::string_view kName = "attention rollout";
  static constexpr Capability kNeeds = Capability::patterns;
  int layer = 0;  ///< the last layer included
  bool operator==(const RolloutOf&) const = default;
  /// Throws RunError if keys are not the queries' tokens, and Stopped.
  Pattern compute(const PromptRun& run, const Computation<Pattern>& computation) const;
};

}  // namespace headscope::app
