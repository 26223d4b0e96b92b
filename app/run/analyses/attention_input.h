#pragma once
#include <vector>

#include "app/run/question.h"
#include "model/pass/transformer.h"

namespace headscope::app {

/// The input of a layer's attention at one position, as the model computed it.
struct AttentionInput {
  std::vector<float> residual;  ///< [d_model]: the residual stream before the block
  std::vector<float> normed;    ///< [d_model]: ln_1 of it
  std::vector<float> bias;      ///< [3 d_model]: c_attn's
  std::vector<float> output;    ///< [3 d_model]: normed * c_attn.weight + bias: q, k and v of all heads
  std::size_t bytes() const { return bytes_of(residual, normed, bias, output); }
};

struct AttentionInputOf {
  using Answer = AttentionInput;
  static constexpr std::string_view kName = "query, key and value";
  static constexpr bool kQuick = true;
  int layer = 0;
  int position = 0;  ///< in the run
  bool operator==(const AttentionInputOf&) const = default;
  AttentionInput compute(const PromptRun& run, const Computation<AttentionInput>& computation) const;
  AttentionInput difference(const AttentionInput& after, const AttentionInput& before,
                            const PromptRun& run) const;
};

}  // namespace headscope::app
