#include "app/run/sources/attention_output.h"

namespace headscope::app {

std::size_t MergedHeads::bytes() const {
  return (of.z.size() + of.results.size() + of.out.size() + bias.size() + before.size() + after.size()) *
         sizeof(float);
}

MergedHeads MergedHeadsOf::compute(const PromptRun& run, const Work<MergedHeads>& work) const {
  const model::Run& kept = *run.run;
  const model::Transformer& transformer = *run.model->transformer;
  MergedHeads merged;
  merged.of = transformer.attention_output(kept, layer, position, work.workspace);
  const auto bias = transformer.projection_bias(layer), before = kept.resid(layer, position);
  merged.bias.assign(bias.begin(), bias.end());
  merged.before.assign(before.begin(), before.end());
  merged.after = merged.before;
  for (std::size_t i = 0; i < merged.after.size(); ++i) merged.after[i] += merged.of.out[i];
  return merged;
}

}  // namespace headscope::app
