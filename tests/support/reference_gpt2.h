#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/files/config.h"

namespace headscope::testing {

/// GPT-2 in double precision: one plain pass over a prompt, written for the tests as the textbook has it. Of
/// the program it uses the readers of files alone.
class ReferenceGpt2 {
 public:
  /// Everything that the pass left, by position.
  struct Head {
    std::vector<std::vector<double>> q, k, v, z;  ///< [pos][d_head]
    std::vector<std::vector<double>> scores, scaled,
        weights;  ///< [query][key]; weights are 0 behind the query
  };
  /// What a block adds to the residual stream; resid_pre is the resid_post of the block before.
  struct Block {
    std::vector<std::vector<double>> resid_pre, attn_out, resid_mid, mlp_out, resid_post;  ///< [pos][d_model]
    std::vector<std::vector<double>> mlp_pre, mlp_post;                                    ///< [pos][n_inner]
  };
  struct Result {
    std::vector<std::vector<Head>> heads;     ///< [layer][head]
    std::vector<Block> blocks;                ///< [layer]
    std::vector<std::vector<double>> logits;  ///< [pos][vocabulary]

    /// Of the whole vocabulary after one position.
    std::vector<double> probabilities(int pos, double temperature = 1) const;
    /// Place of a token among the guesses after one position, 1 for the most probable.
    int rank(int pos, int token) const;
  };

  using Rows = std::vector<std::vector<double>>;  ///< one vector a position, or a query

  /// What is set in the computation, at the places where TransformerLens has hooks.
  struct Edits {
    /// Called with each activation under its hook's name, of one head where it has heads: [pos][units], of
    /// scores and patterns [query][key]. May be empty.
    std::function<void(const std::string& hook, int head, Rows& rows)> edit;
    std::function<bool(int layer, int head, std::size_t query, std::size_t key)> sees;  ///< empty: causal
    std::function<int(std::size_t pos)> row_of_wpe;  ///< -1: none; empty: the position's own
  };

  /// Reads `config.json` and `model.safetensors`.
  explicit ReferenceGpt2(const std::filesystem::path& folder);

  Result run(std::span<const int> tokens) const { return run(tokens, Edits()); }
  Result run(std::span<const int> tokens, const Edits& edits) const;
  /// A parameter under Hugging Face's name without `transformer.`, row-major.
  const std::vector<double>& parameter(const std::string& name) const { return parameters_.at(name); }

 private:
  Rows affine(const Rows& x, const std::string& name) const;
  /// hook: "blocks.0.ln1", of the scale and of what is normalized.
  Rows layer_norm(const Rows& x, const std::string& name, const std::string& hook, const Edits& edits) const;
  Head attend(const Rows& qkv, int layer, int head, const Edits& edits) const;
  Rows project(const std::vector<Head>& heads, int layer, const Edits& edits) const;

  model::Config config_;
  std::map<std::string, std::vector<double>> parameters_;
};

}  // namespace headscope::testing
