#include "app/run/analyses/attention_input.h"

#include "app/run/analyses/vectors.h"

namespace headscope::app {

AttentionInput AttentionInputOf::difference(const AttentionInput& after, const AttentionInput& before,
                                            const PromptRun&) const {
  return {difference_of(after.residual, before.residual), difference_of(after.normed, before.normed),
          difference_of(after.bias, before.bias), difference_of(after.output, before.output)};
}

AttentionInput AttentionInputOf::compute(const PromptRun& run, const Computation<AttentionInput>&) const {
  const model::Run& kept = *run.run;
  const model::Transformer& transformer = *run.model->transformer;
  AttentionInput input;
  const auto residual = kept.resid(layer, position);
  input.residual.assign(residual.begin(), residual.end());
  input.normed = transformer.attention_input(kept, layer, position);
  const auto bias = transformer.attention_bias(layer);
  input.bias.assign(bias.begin(), bias.end());
  input.output.reserve(bias.size());
  const auto append = [&](const auto& of_head) {
    for (int head = 0; head < kept.config.n_head; ++head) {
      const auto values = of_head(head);
      input.output.insert(input.output.end(), values.begin(), values.end());
    }
  };
  append([&](int head) { return kept.q(layer, head, position); });
  append([&](int head) { return kept.k(layer, head, position); });
  append([&](int head) { return kept.v(layer, head, position); });
  return input;
}

}  // namespace headscope::app
