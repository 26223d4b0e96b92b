#include "app/run/analyses/softmax_row.h"

#include "model/kernels/panels.h"

namespace headscope::app {

std::vector<float> softmax_of(std::vector<float> scores, float scale) {
  model::fastest_kernels().rows.softmax(scale, scores.data(), static_cast<int>(scores.size()));
  return scores;
}

SoftmaxRow SoftmaxRowOf::compute(const PromptRun& run, const Computation<SoftmaxRow>&) const {
  return {run.model->transformer->attention_row(*run.run, layer, head, query, least_keys)};
}

}  // namespace headscope::app
