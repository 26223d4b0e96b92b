#pragma once
#include <vector>

#include "app/run/question.h"
#include "model/pass/transformer.h"

namespace headscope::app {

/// How one query's weights are computed, step by step.
struct SoftmaxRow : model::AttentionRow {
  std::size_t bytes() const { return bytes_of(scores, scaled, powers, weights); }
};

/// The softmax of scale * scores, scale > 0, by the model's kernel.
std::vector<float> softmax_of(std::vector<float> scores, float scale);

struct SoftmaxRowOf {
  using Answer = SoftmaxRow;
  static constexpr std::string_view kName = "attention of a query";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  int query = 0;       ///< position in the run
  int least_keys = 0;  ///< minimum number of keys in the row, as far as the run has them; keys beyond the
                       ///< query's own are masked
  bool operator==(const SoftmaxRowOf&) const = default;
  SoftmaxRow compute(const PromptRun& run, const Computation<SoftmaxRow>& computation) const;
};

}  // namespace headscope::app
