#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "app/run/question.h"

namespace headscope::app {

/// The tokens whose logits something moves most, and by how much.
struct TokenPushes {
  static constexpr int kMax = 10;
  std::vector<model::Guess> up;    ///< the largest logits, in descending order
  std::vector<model::Guess> down;  ///< the smallest logits, in ascending order
  std::size_t bytes() const { return bytes_of(up, down); }
};

/// The extremes of logits over the whole vocabulary.
TokenPushes strongest_pushes(std::vector<float> logits);

/// What one neuron of an MLP writes into the residual stream, read as logits per unit of activation: its row
/// of mlp.c_proj.weight times the unembedding, without the final layer norm.
struct NeuronTokens : TokenPushes {
  float norm = 0;  ///< norm of its row
};

struct TokensOfNeuron {
  static constexpr std::string_view kName = "neuron tokens";
  static constexpr bool kModelOnly = true;
  static constexpr Capability kNeeds = Capability::weights | Capability::mlp;
  int layer = 0;
  int neuron = 0;
  // For a difference between two models: the neuron's activation in the run, and in its baseline.
  float after = 1;
  float before = 1;
  /// Compares bits, so that a question with a NaN equals itself.
  bool operator==(const TokensOfNeuron& other) const {
    using Bits = std::array<std::uint32_t, 4>;
    return std::bit_cast<Bits>(*this) == std::bit_cast<Bits>(other);
  }
  NeuronTokens compute(const PromptRun& run, const Computation<NeuronTokens>& computation) const;
  /// The difference in logits with each side's activation and each model's own weights. With one model that
  /// is the difference of activations times compute().
  NeuronTokens compute_difference(const PromptRun& run, const PromptRun& baseline,
                                  const Computation<NeuronTokens>& computation) const;
};

/// A token of the vocabulary compared with another one by their rows of `wte.weight`.
struct Neighbour {
  int id = 0;
  float dot = 0;     ///< product of the two rows
  float norm = 0;    ///< norm of its row
  float cosine = 0;  ///< dot divided by both norms
};

/// The tokens with the most similar embeddings, the token itself left out.
struct NearestTokens {
  static constexpr int kMax = 10;
  int id = 0;
  float norm = 0;
  std::vector<Neighbour> tokens;  ///< by descending cosine, ties by the smaller id
  std::size_t bytes() const { return bytes_of(tokens); }
};

struct NearestTo {
  static constexpr std::string_view kName = "nearest tokens";
  int position = -1;  ///< -1, or beyond the run: the last position
  bool operator==(const NearestTo&) const = default;
  NearestTokens compute(const PromptRun& run, const Computation<NearestTokens>& computation) const;
};

}  // namespace headscope::app
