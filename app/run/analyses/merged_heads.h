#pragma once
#include <vector>

#include "app/run/question.h"
#include "model/pass/transformer.h"

namespace headscope::app {

/// The output of a layer's attention at one position, as the model computed it.
struct MergedHeads {
  model::AttentionOutput of;
  std::vector<float> bias;    ///< [d_model]: c_proj's
  std::vector<float> edits;   ///< [d_model]: what edits of the sum add to it; empty: there are none
  std::vector<float> before;  ///< [d_model]: the residual stream before the block
  std::vector<float> after;   ///< [d_model]: with the attention's output added
  std::size_t bytes() const { return bytes_of(of.z, of.results, of.out, bias, edits, before, after); }
};

struct MergedHeadsOf {
  using Answer = MergedHeads;
  static constexpr std::string_view kName = "attention output";
  static constexpr bool kQuick = true;
  int layer = 0;
  int position = 0;  ///< in the run
  bool operator==(const MergedHeadsOf&) const = default;
  MergedHeads compute(const PromptRun& run, const Computation<MergedHeads>& computation) const;
  /// c_proj is linear: the differences of the parts add up to the difference of the sum.
  MergedHeads difference(const MergedHeads& after, const MergedHeads& before, const PromptRun& run) const;
};

}  // namespace headscope::app
