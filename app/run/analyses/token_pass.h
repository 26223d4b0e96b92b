#pragma once
#include <vector>

#include "app/run/question.h"
#include "model/pass/transformer.h"

namespace headscope::app {

/// A block's activations at one position, bit-identical to those of the forward pass.
struct BlockPass {
  std::vector<float> resid_pre;  ///< [d_model]; other than the last block's resid_post if it is edited
  std::vector<float> ln_1;       ///< [d_model], normalized, before gain and bias
  std::vector<float> attn_out, resid_mid;  ///< [d_model]
  std::vector<float> ln_2;                 ///< [d_model], normalized, before gain and bias
  std::vector<float> mlp_pre, mlp_post;    ///< [n_inner], before and after the non-linearity
  std::vector<float> mlp_out, resid_post;  ///< [d_model]
  /// Of the residual stream before and after adding attention's or the MLP's output; NaN where a vector is 0.
  double cosine(bool mlp) const;
};

/// The forward pass of one position.
struct TokenPass {
  int position = 0;
  std::vector<BlockPass> blocks;
  std::vector<float> ln_f;  ///< [d_model], normalized, before gain and bias
  std::size_t bytes() const;
  /// The differences of the vectors.
  TokenPass minus(const TokenPass& before, const PromptRun& run) const;

  /// The residual stream that enters a block; after the last, the one that leaves it.
  const std::vector<float>& resid(int layer) const {
    return layer < std::ssize(blocks) ? blocks[layer].resid_pre : blocks.back().resid_post;
  }
};

/// Recomputes one position, using the keys and values that the run keeps of earlier positions.
struct PassOfToken {
  static constexpr std::string_view kName = "forward pass of a token";
  int position = -1;  ///< -1, or beyond the run: the last position
  bool operator==(const PassOfToken&) const = default;
  TokenPass compute(const PromptRun& run, const Computation<TokenPass>& computation) const;
};

/// The input of a layer's attention at one position, as the model computed it.
struct AttentionInput {
  std::vector<float> residual;  ///< [d_model]: the residual stream before the block
  std::vector<float> normed;    ///< [d_model]: ln_1 of it
  std::vector<float> bias;      ///< [3 d_model]: c_attn's
  std::vector<float> output;    ///< [3 d_model]: normed * c_attn.weight + bias: q, k and v of all heads
  AttentionInput minus(const AttentionInput& before, const PromptRun& run) const;
  std::size_t bytes() const { return bytes_of(residual, normed, bias, output); }
};

struct AttentionInputOf {
  static constexpr std::string_view kName = "query, key and value";
  static constexpr bool kQuick = true;
  int layer = 0;
  int position = 0;  ///< in the run
  bool operator==(const AttentionInputOf&) const = default;
  AttentionInput compute(const PromptRun& run, const Computation<AttentionInput>& computation) const;
};

/// The output of a layer's attention at one position, as the model computed it.
struct MergedHeads {
  model::AttentionOutput of;
  std::vector<float> bias;    ///< [d_model]: c_proj's
  std::vector<float> edits;   ///< [d_model]: what edits of the sum add to it; empty: there are none
  std::vector<float> before;  ///< [d_model]: the residual stream before the block
  std::vector<float> after;   ///< [d_model]: with the attention's output added
  /// c_proj is linear: the differences of the parts add up to the difference of the sum.
  MergedHeads minus(const MergedHeads& other, const PromptRun& run) const;
  std::size_t bytes() const { return bytes_of(of.z, of.results, of.out, bias, edits, before, after); }
};

struct MergedHeadsOf {
  static constexpr std::string_view kName = "attention output";
  static constexpr bool kQuick = true;
  int layer = 0;
  int position = 0;  ///< in the run
  bool operator==(const MergedHeadsOf&) const = default;
  MergedHeads compute(const PromptRun& run, const Computation<MergedHeads>& computation) const;
};

}  // namespace headscope::app
