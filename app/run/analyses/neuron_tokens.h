#pragma once
#include <bit>
#include <cstdint>

#include "app/run/analyses/token_push.h"
#include "app/run/question.h"

namespace headscope::app {

/// What one neuron of an MLP writes into the residual stream, read as logits for each 1 of activation: its
/// row of mlp.c_proj.weight times the unembedding, without the final layer norm.
struct NeuronTokens : TokenPushes {
  float norm = 0;  ///< of its row
};

struct TokensOfNeuron {
  using Answer = NeuronTokens;
  static constexpr std::string_view kWork = "tokens of neurons";
  static constexpr bool kQuick = false, kOfModel = true;
  static constexpr Capabilities kNeeds = Capability::weights | Capability::mlp;
  int layer = 0;
  int neuron = 0;
  bool operator==(const TokensOfNeuron&) const = default;
  NeuronTokens compute(const PromptRun& run, const Work<NeuronTokens>& work) const;
};

/// What became of that, as active as the neuron is in two runs that are compared: in logits, each with the
/// weights of its own model. Of two runs of one model that is the change of activation times TokensOfNeuron.
struct NeuronDifference {
  using Answer = NeuronTokens;
  static constexpr std::string_view kWork = "changes of neurons";
  static constexpr bool kQuick = false, kOfComparison = true;
  static constexpr Capabilities kNeeds = Capability::weights | Capability::mlp;
  int layer = 0;
  int neuron = 0;
  float after = 0;   ///< what it puts out in the run
  float before = 0;  ///< and in the one that it is compared with
  /// Of the same bits: what is not a number is the same question when it is asked again.
  bool operator==(const NeuronDifference& q) const {
    const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
    return layer == q.layer && neuron == q.neuron && bits(after) == bits(q.after) &&
           bits(before) == bits(q.before);
  }
  NeuronTokens compute(const PromptRun& run, const Work<NeuronTokens>& work) const;
};

}  // namespace headscope::app
