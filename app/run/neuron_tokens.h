#pragma once
#include <vector>

#include "app/run/question.h"

namespace headscope::app {

/// A token of the vocabulary, and how far a neuron moves its logit for each 1 of activation.
struct TokenPush {
  int id = 0;
  float logit = 0;
};

/// What one neuron of an MLP writes into the residual stream, read as logits: its row of mlp.c_proj.weight
/// times the unembedding, without the final layer norm.
struct NeuronTokens {
  static constexpr int kMost = 10;
  float norm = 0;               ///< of its row
  std::vector<TokenPush> up;    ///< the largest products, falling
  std::vector<TokenPush> down;  ///< the smallest products, rising
  std::size_t bytes() const { return (up.size() + down.size()) * sizeof(TokenPush); }
};

struct TokensOfNeuron {
  using Answer = NeuronTokens;
  static constexpr std::string_view kWork = "tokens of neurons";
  static constexpr bool kQuick = false, kOfModel = true;
  int layer = 0;
  int neuron = 0;
  bool operator==(const TokensOfNeuron&) const = default;
  NeuronTokens compute(const PromptRun& run, const Work<NeuronTokens>& work) const;
};

}  // namespace headscope::app
