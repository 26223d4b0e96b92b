#include "app/run/analyses/merged_heads.h"

#include "app/run/analyses/vectors.h"
#include "model/pass/plan.h"

namespace headscope::app {

MergedHeads MergedHeadsOf::difference(const MergedHeads& after, const MergedHeads& before,
                                      const PromptRun&) const {
  return {{difference_of(after.of.z, before.of.z), difference_of(after.of.results, before.of.results),
           difference_of(after.of.out, before.of.out)},
          difference_of(after.bias, before.bias),
          after.edits,  // the baseline is unedited
          difference_of(after.before, before.before),
          difference_of(after.after, before.after)};
}

MergedHeads MergedHeadsOf::compute(const PromptRun& run, const Computation<MergedHeads>& computation) const {
  const model::Run& kept = *run.run;
  const model::Transformer& transformer = *run.model->transformer;
  MergedHeads merged;
  merged.of = transformer.attention_output(kept, layer, position, computation.workspace);
  const auto bias = transformer.projection_bias(layer), before = kept.resid(layer, position);
  merged.bias.assign(bias.begin(), bias.end());
  merged.before.assign(before.begin(), before.end());
  if (kept.plan != nullptr && kept.plan->edits({model::Site::attn_out, layer})) {
    merged.edits = merged.of.out;
    for (std::size_t at = 0; at < merged.of.results.size(); ++at)
      merged.edits[at % merged.edits.size()] -= merged.of.results[at];
    for (std::size_t i = 0; i < merged.edits.size(); ++i) merged.edits[i] -= merged.bias[i];
  }
  merged.after = merged.before;
  for (std::size_t i = 0; i < merged.after.size(); ++i) merged.after[i] += merged.of.out[i];
  return merged;
}

}  // namespace headscope::app
