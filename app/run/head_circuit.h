#pragma once
#include <complex>
#include <vector>

#include "app/run/neuron_tokens.h"
#include "app/run/question.h"

// What a head writes when it attends to a token, whatever the prompt: its OV circuit over the whole
// vocabulary (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"),
//
//     logits of the token = ln_1(W_E[token]) W_V W_O W_U
//
// with the token's embedding for the whole of the residual stream, ln_1 as it does with it alone, of ln_f the
// centring and the gain but not the scale, which the rest of the stream decides, and without biases, which
// are the same for all tokens. It is the direct path alone: in models whose W_U is W_E, heads of later layers
// rather read what the first MLP made of the embedding (Wang et al. 2022, "Interpretability in the Wild"), so
// that a low copying score is no proof that a head does not copy.
namespace headscope::app {

struct HeadTokens {
  static constexpr int kMost = 10;
  std::vector<TokenPush> up;    ///< the largest logits, falling
  std::vector<TokenPush> down;  ///< the smallest logits, rising
  TokenPush own;                ///< of the token itself
  int own_rank = 0;             ///< 0: no token's is larger
  std::size_t bytes() const { return (up.size() + down.size()) * sizeof(TokenPush); }
};

struct TokensOfHead {
  using Answer = HeadTokens;
  static constexpr std::string_view kWork = "tokens of a head";
  static constexpr bool kQuick = false, kOfModel = true;
  int layer = 0;
  int head = 0;
  int id = 0;  ///< of the token that is attended to
  bool operator==(const TokensOfHead&) const = default;
  HeadTokens compute(const PromptRun& run, const Work<HeadTokens>& work) const;
};

/// Whether a head raises the tokens that it attends to: the eigenvalues of the circuit [vocabulary,
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
  bool operator==(const CopyingOfHead&) const = default;
  HeadCopying compute(const PromptRun& run, const Work<HeadCopying>& work) const;
};

}  // namespace headscope::app
