#include "app/run/analyses/neuron_tokens.h"

#include <string>

#include "app/run/analyses/parameter_rows.h"
#include "app/run/analyses/vectors.h"

namespace headscope::app {
namespace {

/// What a neuron writes for each 1 of activation, and that as logits.
struct Written {
  std::vector<float> row, logits;
};

Written written_by(const model::Transformer& transformer, int layer, int neuron,
                   model::Workspace& workspace) {
  Written written;
  written.row =
      parameter_rows(transformer, "h." + std::to_string(layer) + ".mlp.c_proj.weight", neuron, 1).values;
  written.logits.resize(transformer.config().vocab_size);
  transformer.unembed(written.row, workspace, written.logits);
  return written;
}

NeuronTokens tokens_of(Written written) {
  const auto norm = static_cast<float>(norm_of(written.row));
  return {strongest_pushes(std::move(written.logits)), norm};
}

}  // namespace

NeuronTokens TokensOfNeuron::compute(const PromptRun& run, const Work<NeuronTokens>& work) const {
  return tokens_of(written_by(*run.model->transformer, layer, neuron, work.workspace));
}

NeuronTokens TokensOfNeuron::compute_difference(const PromptRun& run, const Work<NeuronTokens>& work) const {
  Written here = written_by(*run.model->transformer, layer, neuron, work.workspace);
  const PromptRun& other = run.baseline ? *run.baseline : run;
  const Written there = written_by(*other.model->transformer, layer, neuron, work.workspace);
  const auto subtract = [&](std::vector<float>& ours, const std::vector<float>& theirs) {
    for (std::size_t i = 0; i < ours.size(); ++i) ours[i] = after * ours[i] - before * theirs[i];
  };
  subtract(here.row, there.row);
  subtract(here.logits, there.logits);
  return tokens_of(std::move(here));
}

}  // namespace headscope::app
