#include "app/run/analyses/neuron_tokens.h"

#include <string>

#include "app/run/analyses/parameter_rows.h"
#include "app/run/analyses/vectors.h"

namespace headscope::app {
namespace {

/// A neuron's output per unit of activation, as a row and as logits.
struct NeuronOutput {
  std::vector<float> row, logits;
};

NeuronOutput output_of(const model::Transformer& transformer, int layer, int neuron,
                       model::Workspace& workspace) {
  NeuronOutput output;
  output.row =
      parameter_rows(transformer, "h." + std::to_string(layer) + ".mlp.c_proj.weight", neuron, 1).values;
  output.logits.resize(transformer.config().vocab_size);
  transformer.unembed(output.row, workspace, output.logits);
  return output;
}

NeuronTokens tokens_of(NeuronOutput output) {
  const auto norm = static_cast<float>(norm_of(output.row));
  return {strongest_pushes(std::move(output.logits)), norm};
}

}  // namespace

NeuronTokens TokensOfNeuron::compute(const PromptRun& run,
                                     const Computation<NeuronTokens>& computation) const {
  return tokens_of(output_of(*run.model->transformer, layer, neuron, computation.workspace));
}

NeuronTokens TokensOfNeuron::compute_difference(const PromptRun& run,
                                                const Computation<NeuronTokens>& computation) const {
  NeuronOutput output = output_of(*run.model->transformer, layer, neuron, computation.workspace);
  const PromptRun& baseline = run.baseline ? *run.baseline : run;
  const NeuronOutput baseline_output =
      output_of(*baseline.model->transformer, layer, neuron, computation.workspace);
  const auto subtract = [&](std::vector<float>& ours, const std::vector<float>& theirs) {
    for (std::size_t i = 0; i < ours.size(); ++i) ours[i] = after * ours[i] - before * theirs[i];
  };
  subtract(output.row, baseline_output.row);
  subtract(output.logits, baseline_output.logits);
  return tokens_of(std::move(output));
}

}  // namespace headscope::app
