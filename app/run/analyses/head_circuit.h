#pragma once
#include <complex>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "app/run/analyses/parameter_rows.h"
#include "app/run/analyses/token_push.h"
#include "app/run/question.h"
#include "model/files/config.h"
#include "model/maths/plain_product.h"
#include "model/pass/transformer.h"

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
namespace headscope::app {

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

/// Rows of tokens as the heads of a layer read them, before ln_1's gain.
class TokenRows {
 public:
  TokenRows(const model::Transformer& transformer, int layer, TokenReading reading);
  /// The rows of tokens [first, first + count), [count, d_model].
  ParameterRows rows(int first, int count, model::Workspace& workspace) const;

 private:
  /// Layer 0's MLP with its layer norm.
  struct Mlp {
    ParameterRows gain, bias, in, in_bias, out, out_bias;
  };
  const model::Transformer& transformer_;
  TokenReading reading_;
  std::optional<Mlp> mlp_;
};

struct HeadTokens : TokenPushes {
  TokenPush own;     ///< for the token itself
  int own_rank = 0;  ///< 0: no token's logit is larger
};

/// Questions about a circuit, and about one token's part in it. `reading` has padding, hence `hash`: see
/// Question::hash.
struct CircuitQuestion {
  static constexpr bool kModelOnly = true;
  int layer = 0;
  int head = 0;
  TokenReading reading = {};
  bool operator==(const CircuitQuestion&) const = default;
  std::size_t hash() const { return std::size_t{4096} * layer + head; }
};
struct CircuitTokenQuestion {
  using Answer = HeadTokens;
  static constexpr bool kModelOnly = true;
  int layer = 0;
  int head = 0;
  int id = 0;
  TokenReading reading = {};
  bool operator==(const CircuitTokenQuestion&) const = default;
  std::size_t hash() const {
    constexpr std::size_t kOdd = 0x9e3779b97f4a7c15U;
    return kOdd * id + std::size_t{4096} * layer + head;
  }
};

/// The tokens whose logits a head raises and lowers when it attends to the token.
struct TokensOfHead : CircuitTokenQuestion {
  static constexpr std::string_view kName = "OV circuit of a head";
  HeadTokens compute(const PromptRun& run, const Computation<HeadTokens>& computation) const;
};

/// Whether a head raises the logits of the tokens it attends to: the eigenvalues of the OV circuit,
/// [vocabulary, vocabulary]. All except d_head of them are 0.
struct HeadCopying {
  std::vector<std::complex<double>> eigenvalues;  ///< [d_head], the largest magnitude first
  /// Sum of the eigenvalues divided by the sum of their magnitudes, in [-1, 1]; NaN where that is 0.
  double score = 0;
  std::size_t bytes() const { return bytes_of(eigenvalues); }
};

struct CopyingOfHead : CircuitQuestion {
  using Answer = HeadCopying;
  static constexpr std::string_view kName = "copying score of a head";
  HeadCopying compute(const PromptRun& run, const Computation<HeadCopying>& computation) const;
};

/// The copying scores of all heads.
struct ModelCopying {
  int heads = 0;               ///< of a layer
  std::vector<double> scores;  ///< [n_layer, n_head], as HeadCopying::score
  double score(int layer, int head) const { return scores[static_cast<std::size_t>(layer * heads + head)]; }
  std::size_t bytes() const { return bytes_of(scores); }
};

struct CopyingOfModel {
  static constexpr bool kModelOnly = true;
  using Answer = ModelCopying;
  static constexpr std::string_view kName = "copying scores of all heads";
  TokenReading reading = {};  ///< heads in layer 0 never read through the first MLP
  bool operator==(const CopyingOfModel&) const = default;
  std::size_t hash() const {
    return std::size_t{reading.after_first_mlp} * 2 + std::size_t{reading.normalized};
  }
  ModelCopying compute(const PromptRun& run, const Computation<ModelCopying>& computation) const;
};

/// The key tokens that a head looks for from a query token; scores take the place of logits.
struct KeysOfToken : CircuitTokenQuestion {
  static constexpr std::string_view kName = "QK circuit of a head";
  HeadTokens compute(const PromptRun& run, const Computation<HeadTokens>& computation) const;
};

/// The largest scores of the QK circuit.
struct TokenPairs {
  static constexpr int kMax = 20;
  /// In descending order; row: id of the query, col: id of the key.
  std::vector<model::ProductEntry> strongest;
  std::size_t bytes() const { return bytes_of(strongest); }
};

struct PairsOfHead : CircuitQuestion {
  using Answer = TokenPairs;
  static constexpr std::string_view kName = "QK token pairs of a head";
  TokenPairs compute(const PromptRun& run, const Computation<TokenPairs>& computation) const;
};

}  // namespace headscope::app
