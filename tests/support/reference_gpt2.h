#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/circuit/stream_graph.h"
#include "model/files/config.h"
#include "model/kernels/precision.h"

namespace headscope::testing {

/// An activation as transformers' table defines it (activations.py).
double activated(model::Activation activation, double x);

/// All activations.
inline constexpr model::Activation kActivations[] = {
    model::Activation::gelu_new,   model::Activation::gelu,       model::Activation::gelu_10,
    model::Activation::quick_gelu, model::Activation::relu,       model::Activation::relu2,
    model::Activation::relu6,      model::Activation::leaky_relu, model::Activation::silu,
    model::Activation::mish,       model::Activation::tanh,       model::Activation::sigmoid,
    model::Activation::laplace,    model::Activation::linear};

/// GPT-2 in double precision: a simple pass over a prompt, written for tests from the textbook definition. It
/// uses only the file readers of the program.
class ReferenceGpt2 {
 public:
  /// The results of a pass, by position.
  struct Head {
    std::vector<std::vector<double>> q, k, v, z;  ///< [pos][d_head]
    std::vector<std::vector<double>> scores, scaled,
        weights;  ///< [query][key]; 0 for keys after the query
  };
  /// The vectors of a block; resid_pre is the previous block's resid_post.
  struct Block {
    std::vector<std::vector<double>> resid_pre, attn_out, resid_mid, mlp_out, resid_post;  ///< [pos][d_model]
    std::vector<std::vector<double>> mlp_pre, mlp_post;                                    ///< [pos][n_inner]
  };
  struct Result {
    std::vector<std::vector<Head>> heads;     ///< [layer][head]
    std::vector<Block> blocks;                ///< [layer]
    std::vector<std::vector<double>> logits;  ///< [pos][vocabulary]

    /// Probabilities of the whole vocabulary after a position.
    std::vector<double> probabilities(int pos, double temperature = 1) const;
    /// The rank of a token after a position, 1 for the most probable.
    int rank(int pos, int token) const;
  };

  using Rows = std::vector<std::vector<double>>;  ///< one vector per position or query

  /// Edits of the computation, at TransformerLens' hook points.
  struct Edits {
    /// Called with each activation and its hook's name, for each head if it has heads: [pos][units], or
    /// [query][key] for scores and patterns. May be empty.
    std::function<void(const std::string& hook, int head, Rows& rows)> edit;
    std::function<bool(int layer, int head, std::size_t query, std::size_t key)> sees;  ///< empty: causal
    std::function<int(std::size_t pos)> row_of_wpe;  ///< -1: none; empty: the position itself
    /// What a part of the model reads in place of the stream, if it is not that.
    std::function<Rows(model::StreamReader, const Rows& stream)> reads = {};
  };

  /// Reads `config.json` and `model.safetensors`. Matrices are rounded to the precision.
  explicit ReferenceGpt2(const std::filesystem::path& folder,
                         model::Precision precision = model::Precision::f32);

  Result run(std::span<const int> tokens) const { return run(tokens, Edits()); }
  Result run(std::span<const int> tokens, const Edits& edits) const;
  /// A parameter by Hugging Face's name without `transformer.`, row-major.
  const std::vector<double>& parameter(const std::string& name) const { return parameters_.at(name); }
  const model::Config& config() const { return config_; }

 private:
  model::Config config_;
  std::map<std::string, std::vector<double>> parameters_;
};

/// The largest difference of logits from the reference's, as a part of the largest of those.
double logit_error(std::span<const float> found, const ReferenceGpt2::Rows& expected);

}  // namespace headscope::testing
