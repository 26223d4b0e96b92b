#include "app/run/neuron_tokens.h"

#include <string>

#include "app/run/parameter_rows.h"
#include "app/run/vectors.h"

namespace headscope::app {

NeuronTokens TokensOfNeuron::compute(const PromptRun& run, const Work<NeuronTokens>& work) const {
  const model::Transformer& transformer = *run.model->transformer;
  const ParameterRows row =
      parameter_rows(transformer, "h." + std::to_string(layer) + ".mlp.c_proj.weight", neuron, 1);
  std::vector<float> logits(static_cast<std::size_t>(transformer.config().vocab_size));
  transformer.unembed(row.values, work.workspace, logits);
  return {strongest_pushes(std::move(logits)), static_cast<float>(norm_of(row.values))};
}

}  // namespace headscope::app
