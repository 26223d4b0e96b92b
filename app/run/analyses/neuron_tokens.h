#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <string_view>

#include "app/run/analyses/token_push.h"
#include "app/run/question.h"

namespace headscope::app {

/// What one neuron of an MLP writes into the residual stream, read as logits per unit of activation: its row
/// of mlp.c_proj.weight times the unembedding, without the final layer norm.
struct NeuronTokens : TokenPushes {
  float norm = 0;  ///< norm of its row
};

struct TokensOfNeuron {
  using Answer = NeuronTokens;
  static constexpr std::string_view kName = "neuron tokens";
  static constexpr bool kModelOnly = true;
  static constexpr Capabilities kNeeds = Capability::weights | Capability::mlp;
  int layer = 0;
  int neuron = 0;
  // For a difference between two models: the neuron's activation in the run, and in its baseline.
  float after = 1;
  float before = 1;
  /// Compares bits, so that a question with a NaN equals itself.
  bool operator==(const TokensOfNeuron& q) const { return bits() == q.bits(); }
  std::size_t hash() const {
    const auto own = bits();
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(own.data()), sizeof own});  // NOLINT
  }
  NeuronTokens compute(const PromptRun& run, const Computation<NeuronTokens>& computation) const;
  /// The difference in logits with each side's activation and each model's own weights. With one model that
  /// is the difference of activations times compute().
  NeuronTokens compute_difference(const PromptRun& run, const Computation<NeuronTokens>& computation) const;

 private:
  std::array<std::uint32_t, 4> bits() const {
    return {static_cast<std::uint32_t>(layer), static_cast<std::uint32_t>(neuron),
            std::bit_cast<std::uint32_t>(after), std::bit_cast<std::uint32_t>(before)};
  }
};

}  // namespace headscope::app
