#pragma once
#include <optional>

#include "app/run/analyses/parameter_rows.h"
#include "model/files/config.h"
#include "model/pass/transformer.h"

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

}  // namespace headscope::app
