#pragma once
#include <complex>
#include <cstddef>
#include <string_view>
#include <vector>

#include "app/run/analyses/token_push.h"
#include "app/run/analyses/token_reading.h"
#include "app/run/question.h"
#include "model/maths/plain_product.h"

// The circuits of a head, whatever the prompt (Elhage et al. 2021, "A Mathematical Framework for Transformer
// Circuits"). With x the rows of all tokens as the head reads them (TokenReading) and ln_1's gain,
//
//     OV: logits = x W_V W_O W_U         what the head writes when it attends to a token
//     QK: scores = x W_Q W_K^T x^T       which keys the head looks for, scaled as in attention
//
// without positions and biases; of ln_f the OV circuit has the centring and the gain but not the scale, which
// the rest of the stream decides. In models whose W_U is W_E, heads of later layers rather read what the
// first MLP made of the embedding (Wang et al. 2022, "Interpretability in the Wild"), so that a low copying
// score of the embeddings alone is no proof that a head does not copy.
namespace headscope::app {

struct HeadTokens : TokenPushes {
  TokenPush own;     ///< of the token itself
  int own_rank = 0;  ///< 0: no token's is larger
};

/// Of questions about a head and a token (see Question): a reading has padding.
inline std::size_t hash_of_head(int layer, int head, int id = 0) {
  constexpr std::size_t kOdd = 0x9e3779b97f4a7c15U;
  return kOdd * static_cast<std::size_t>(id) + 4096 * static_cast<std::size_t>(layer) +
         static_cast<std::size_t>(head);
}

struct TokensOfHead {
  using Answer = HeadTokens;
  static constexpr std::string_view kWork = "tokens of a head";
  static constexpr bool kQuick = false, kOfModel = true;
  int layer = 0;
  int head = 0;
  int id = 0;  ///< of the token that is attended to
  TokenReading reading = {};
  bool operator==(const TokensOfHead&) const = default;
  std::size_t hash() const { return hash_of_head(layer, head, id); }
  HeadTokens compute(const PromptRun& run, const Work<HeadTokens>& work) const;
};

/// Whether a head raises the tokens that it attends to: the eigenvalues of the OV circuit [vocabulary,
/// vocabulary], of which all but d_head are 0.
struct HeadCopying {
  std::vector<std::complex<double>> eigenvalues;  ///< [d_head], the largest magnitude first
  double score = 0;  ///< their sum over the sum of their magnitudes, in [-1, 1]; NaN where that is 0
  std::size_t bytes() const { return eigenvalues.size() * sizeof(eigenvalues.front()); }
};

struct CopyingOfHead {
  using Answer = HeadCopying;
  static constexpr std::string_view kWork = "copying by a head";
  static constexpr bool kQuick = false, kOfModel = true;
  int layer = 0;
  int head = 0;
  TokenReading reading = {};
  bool operator==(const CopyingOfHead&) const = default;
  std::size_t hash() const { return hash_of_head(layer, head); }
  HeadCopying compute(const PromptRun& run, const Work<HeadCopying>& work) const;
};

/// The key tokens that a head looks for from a query token: the scores are in the place of logits.
struct KeysOfToken {
  using Answer = HeadTokens;
  static constexpr std::string_view kWork = "keys of a token";
  static constexpr bool kQuick = false, kOfModel = true;
  int layer = 0;
  int head = 0;
  int id = 0;  ///< of the query
  TokenReading reading = {};
  bool operator==(const KeysOfToken&) const = default;
  std::size_t hash() const { return hash_of_head(layer, head, id); }
  HeadTokens compute(const PromptRun& run, const Work<HeadTokens>& work) const;
};

/// The largest scores of the QK circuit.
struct TokenPairs {
  static constexpr int kMost = 20;
  std::vector<model::ProductEntry> strongest;  ///< falling; row: id of the query, col: of the key
  std::size_t bytes() const { return strongest.size() * sizeof(model::ProductEntry); }
};

struct PairsOfHead {
  using Answer = TokenPairs;
  static constexpr std::string_view kWork = "token pairs of a head";
  static constexpr bool kQuick = false, kOfModel = true;
  int layer = 0;
  int head = 0;
  TokenReading reading = {};
  bool operator==(const PairsOfHead&) const = default;
  std::size_t hash() const { return hash_of_head(layer, head); }
  TokenPairs compute(const PromptRun& run, const Work<TokenPairs>& work) const;
};

}  // namespace headscope::app
