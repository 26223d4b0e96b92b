#pragma once
#include <optional>

#include "app/run/analyses/parameter_rows.h"
#include "model/files/config.h"
#include "model/pass/transformer.h"

namespace headscope::app {

/// What stands for the residual stream of a token wherever it is said, when a head's circuits are read off
/// the weights.
struct TokenReading {
  /// Not the embedding alone, but what is on the stream after layer 0's MLP where its attention adds nothing:
  /// W_E + MLP_0(ln_2(W_E)), the effective embedding. Heads of layer 0 come before it and read W_E all the
  /// same.
  bool after_first_mlp = false;
  /// Through ln_1 as it is with this vector alone; else its gain alone, as if every token's scale were 1.
  bool normalized = true;
  bool operator==(const TokenReading&) const = default;
};

/// Rows of tokens as the heads of a layer read them, before ln_1's gain.
class TokenRows {
 public:
  TokenRows(const model::Transformer& transformer, int layer, TokenReading reading);
  /// Of tokens [first, first + count), [count, d_model].
  ParameterRows rows(int first, int count, model::Workspace& workspace) const;

 private:
  /// Layer 0's MLP with its norm.
  struct Mlp {
    ParameterRows gain, bias, in, in_bias, out, out_bias;
  };
  const model::Transformer& transformer_;
  TokenReading reading_;
  std::optional<Mlp> mlp_;
};

}  // namespace headscope::app
