#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "app/run/analyses/parameters.h"
#include "app/run/analyses/vocabulary.h"
#include "app/run/question.h"
#include "model/maths/products.h"
#include "model/pass/transformer.h"

namespace headscope::app {

// The circuits of a head, independent of the prompt (Elhage et al. 2021, "A Mathematical Framework for
// Transformer Circuits"). With x the rows of all tokens as the head reads them (TokenReading) and ln_1's
// gain,
//
//     OV: logits = x W_V W_O W_U         what the head writes when it attends to a token
//     QK: scores = x W_Q W_K^T x^T       which keys the head looks for, scaled as in attention
//
// without positions and biases. The OV circuit includes ln_f's centring and gain, but not its scale, which
// depends on the rest of the stream. In models with tied embeddings, heads in later layers tend to read the
// first MLP's output for the embedding (Wang et al. 2022, "Interpretability in the Wild"), so a low copying
// score for the embeddings alone does not prove that a head does not copy.

/// The vector that represents a token's residual stream, independent of context, when a head's circuits are
/// computed from the weights.
struct TokenReading {
  /// Use the effective embedding, W_E + MLP_0(ln_2(W_E)): the stream after layer 0's MLP if its attention
  /// adds nothing. Heads of layer 0 come before it and always read W_E.
  bool after_first_mlp = false;
  /// Apply ln_1 with this vector's own scale; else its gain alone, as if every token's scale were 1.
  bool normalized = true;
  bool operator==(const TokenReading&) const = default;
};

struct HeadTokens : TokenPushes {
  model::Guess own;  ///< for the token itself
  int own_rank = 0;  ///< 0: no token's logit is larger
};

/// Questions about a circuit, and about one token's part in it.
struct CircuitQuestion {
  static constexpr bool kModelOnly = true;
  int layer = 0;
  int head = 0;
  TokenReading reading = {};
  bool operator==(const CircuitQuestion&) const = default;
};
struct CircuitTokenQuestion : CircuitQuestion {
  int id = 0;
  bool operator==(const CircuitTokenQuestion&) const = default;
};

/// The tokens whose logits a head raises and lowers when it attends to the token.
struct TokensOfHead : CircuitTokenQuestion {
  static constexpr std::string_view kName = "OV circuit of a head";
  HeadTokens compute(const PromptRun& run, const Computation<HeadTokens>& computation) const;
};

/// Whether a head raises the logits of the tokens it attends to, in [-1, 1]: the sum of the eigenvalues of
/// the OV circuit, [vocabulary, vocabulary], divided by the sum of their magnitudes; NaN where that is 0.
struct CopyingOfHead : CircuitQuestion {
  static constexpr std::string_view kName = "copying score of a head";
  double compute(const PromptRun& run, const Computation<double>& computation) const;
};

/// The copying scores of all heads, [n_layer, n_head].
struct CopyingOfModel {
  static constexpr bool kModelOnly = true;
  static constexpr std::string_view kName = "copying scores of all heads";
  TokenReading reading = {};  ///< heads in layer 0 never read through the first MLP
  bool operator==(const CopyingOfModel&) const = default;
  std::vector<double> compute(const PromptRun& run,
                              const Computation<std::vector<double>>& computation) const;
};

/// The key tokens that a head looks for from a query token; scores take the place of logits.
struct KeysOfToken : CircuitTokenQuestion {
  static constexpr std::string_view kName = "QK circuit of a head";
  HeadTokens compute(const PromptRun& run, const Computation<HeadTokens>& computation) const;
};

/// The largest scores of the QK circuit, in descending order; row: id of the query, col: id of the key.
using TokenPairs = std::vector<model::ProductEntry>;

struct PairsOfHead : CircuitQuestion {
  static constexpr std::string_view kName = "QK token pairs of a head";
  static constexpr int kMax = 20;
  TokenPairs compute(const PromptRun& run, const Computation<TokenPairs>& computation) const;
};

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

/// The composition of every pair of heads, a head being layer * n_head + head.
struct Composition {
  int layers = 0;
  int heads_per_layer = 0;
  int done = 1;  ///< receivers of layers before this one are computed; those of layer 0 have no senders
  /// What random matrices of these shapes have: 1 / sqrt(d_model - 1), exactly the root mean square over all
  /// rotations of the receiver's input against the sender's output in the d_model - 1 dimensions that the
  /// means leave. NaN for a single dimension, where a layer norm leaves nothing. Of a difference 0.
  double baseline = 0;
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
  Composition minus(const Composition& before, const PromptRun& run) const;  ///< pair by pair, of two models
  std::size_t bytes() const { return bytes_of(values); }
};

struct CompositionOf {
  static constexpr std::string_view kName = "composition of heads";
  static constexpr bool kModelOnly = true;
  CompositionKind kind = CompositionKind::q;
  bool operator==(const CompositionOf&) const = default;
  /// Shows the receivers layer by layer. Throws Stopped.
  Composition compute(const PromptRun& run, const Computation<Composition>& computation) const;
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
