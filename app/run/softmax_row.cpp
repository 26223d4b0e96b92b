#include "app/run/softmax_row.h"

#include <algorithm>
#include <array>

#include "model/attention.h"
#include "model/panels.h"

namespace headscope::app {
namespace {

/// In the order of the model's kernels: sixteen sums side by side, then these from the first to the last.
float sum_of(const std::vector<float>& values) {
  constexpr std::size_t kSums = 16;
  std::array<float, kSums> sums{};
  for (std::size_t i = 0; i < values.size(); ++i) sums[i % kSums] += values[i];
  float total = 0;
  for (const float sum : sums) total += sum;
  return total;
}

}  // namespace

std::size_t SoftmaxRow::bytes() const {
  return (scores.size() + scaled.size() + powers.size() + weights.size()) * sizeof(float);
}

SoftmaxRow SoftmaxRowOf::compute(const PromptRun& run, const Work<SoftmaxRow>&) const {
  const model::Run& kept = *run.run;
  const int keys = query + 1, page = query / model::Page::kPositions, row = query % model::Page::kPositions;
  const model::PanelKernels kernels = model::fastest_kernels();
  const model::KeptHead of_head = model::head_of(kept.config, kept.pages, layer, head);
  SoftmaxRow result;
  result.scores.resize(static_cast<std::size_t>(keys));
  model::score(kernels, of_head, of_head.q(page, row + 1).middle_rows(row, 1),
               {result.scores.data(), 1, keys, keys});
  const float scale = kept.config.attention_scale(layer);
  result.scaled = result.scores;
  model::scale_scores(scale, {result.scaled.data(), 1, keys, keys});
  result.largest_key = static_cast<int>(std::ranges::max_element(result.scaled) - result.scaled.begin());
  result.largest = result.scaled[static_cast<std::size_t>(result.largest_key)];
  result.powers = result.scaled;
  for (float& power : result.powers) power -= result.largest;
  kernels.rows.exp(result.powers.data(), keys);
  result.sum = sum_of(result.powers);
  result.weights = result.scores;
  model::pattern_of_scores(kernels, scale, query, {result.weights.data(), 1, keys, keys});
  return result;
}

}  // namespace headscope::app
