#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "app/run/question.h"

// Composition of heads, independent of the prompt (Elhage et al. 2021, "A Mathematical Framework for
// Transformer Circuits", "Two-Layer Attention-Only Transformers"): how much of what a head writes, the
// sender, lies where a head of a later layer, the receiver, reads. With rows as vectors, as GPT-2 multiplies,
//
//     W_OV = W_V W_O       of the sender
//     W_QK = W_Q W_K^T     of the receiver
//
//     Q: ||W_OV W_QK||_F / (||W_OV||_F ||W_QK||_F)         through the receiver's queries
//     K: ||W_OV W_QK^T||_F / (||W_OV||_F ||W_QK||_F)       through its keys
//     V: ||W_OV W_OV'||_F / (||W_OV||_F ||W_OV'||_F)       through its values; W_OV' is the receiver's
//
// Layer norms are folded into the weights, but for their scale, which depends on the stream: W_Q, W_K and W_V
// are multiplied by their own ln_1's gain and read only what is left of a vector minus its mean, and of W_O,
// each row minus its mean is written, since all that read it subtract the mean. Biases count for nothing.
// The formulas are those of TransformerLens' all_composition_scores, whose default processing folds and
// centers the weights in the same way.
//
// All matrices [d_model, d_model] have rank d_head, and none of them is made: with W_V = U R (U orthonormal
// columns, so R^T R = W_V^T W_V) the norm of W_V W_O X is that of R W_O X, and likewise on the other side.
namespace headscope::app {

/// The receiver's input through which the heads compose.
enum class CompositionKind { q, k, v };

struct CompositionKindSpec {
  CompositionKind kind;
  std::string_view name;     ///< "q", on the command line and in files
  std::string_view title;    ///< "Q-composition"
  std::string_view reads;    ///< "queries": what the receiver makes of it
  std::string_view formula;  ///< in the symbols above
};

inline constexpr std::array<CompositionKindSpec, 3> kCompositionKinds{
    {{CompositionKind::q, "q", "Q-composition", "queries", "‖W_OV W_QK‖ / (‖W_OV‖ ‖W_QK‖)"},
     {CompositionKind::k, "k", "K-composition", "keys", "‖W_OV W_QKᵀ‖ / (‖W_OV‖ ‖W_QK‖)"},
     {CompositionKind::v, "v", "V-composition", "values", "‖W_OV W_OV′‖ / (‖W_OV‖ ‖W_OV′‖)"}}};

constexpr const CompositionKindSpec& spec_of(CompositionKind kind) {
  return kCompositionKinds[static_cast<std::size_t>(kind)];
}

/// What random matrices of these shapes have: 1 / sqrt(d_model - 1). That is exactly the root mean square
/// over all rotations of the receiver's input against the sender's output, in the d_model - 1 dimensions that
/// the means leave, whatever the singular values are; so it holds for normally distributed weights, too.
/// Their mean is smaller by about 1 / (4 d_head^2) of it. NaN for a single dimension, where a layer norm
/// leaves nothing.
double random_composition(const model::Config& config);

/// The composition of every pair of heads, a head being layer * n_head + head.
struct Composition {
  int layers = 0;
  int heads_per_layer = 0;
  int done = 1;  ///< receivers of layers before this one are computed; those of layer 0 have no senders
  double baseline = 0;  ///< random_composition; of a difference 0
  /// [heads, heads], row: sender; NaN where the receiver is in no later layer, where a matrix is 0, and what
  /// is not computed yet.
  std::vector<float> values;

  int heads() const { return layers * heads_per_layer; }
  int layer_of(int head) const { return head / heads_per_layer; }
  bool complete() const { return done >= layers; }
  bool is_pair(int sender, int receiver) const { return layer_of(sender) < layer_of(receiver); }
  float value(int sender, int receiver) const { return values[std::ptrdiff_t{sender} * heads() + receiver]; }
  /// The value minus the baseline.
  double excess(int sender, int receiver) const {
    return static_cast<double>(value(sender, receiver)) - baseline;
  }
  std::size_t bytes() const { return bytes_of(values); }
};

struct CompositionOf {
  using Answer = Composition;
  static constexpr std::string_view kName = "composition of heads";
  static constexpr bool kModelOnly = true;
  CompositionKind kind = CompositionKind::q;
  bool operator==(const CompositionOf&) const = default;
  /// Shows the receivers layer by layer. Throws Stopped.
  Composition compute(const PromptRun& run, const Computation<Composition>& computation) const;
  /// Pair by pair, for two models.
  Composition difference(const Composition& after, const Composition& before, const PromptRun& run) const;
};

/// A pair of heads, and its value minus the baseline.
struct ComposedPair {
  int sender = 0;
  int receiver = 0;
  double excess = 0;
};

/// The pairs with a number, the largest excess first (`by_size`: the largest magnitude), ties by sender and
/// receiver; at most `most` of them (0: all), and if `head` is not -1, only those of that head.
std::vector<ComposedPair> strongest_pairs(const Composition& composition, std::size_t most,
                                          bool by_size = false, int head = -1);

}  // namespace headscope::app
