#pragma once
#include <vector>

#include "app/run/question.h"

namespace headscope::app {

/// How one query's weights come to be, step by step as the model computes them, in float32. All of its keys
/// [query + 1]; those after it are masked.
struct SoftmaxRow {
  std::vector<float> scores;   ///< q.k
  std::vector<float> scaled;   ///< times the layer's scale
  int largest_key = 0;         ///< the first of the largest of these
  float largest = 0;           ///< it is subtracted from all
  std::vector<float> powers;   ///< e^(scaled - largest)
  float sum = 0;               ///< of them, in the model's order
  std::vector<float> weights;  ///< powers times 1 / sum
  std::size_t bytes() const;
};

struct SoftmaxRowOf {
  using Answer = SoftmaxRow;
  static constexpr std::string_view kWork = "attention of a query";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  int query = 0;  ///< position in the run
  bool operator==(const SoftmaxRowOf&) const = default;
  /// The weights are the pattern's, to the bit. Beside what is not finite they are NaN.
  SoftmaxRow compute(const PromptRun& run, const Work<SoftmaxRow>& work) const;
};

}  // namespace headscope::app
