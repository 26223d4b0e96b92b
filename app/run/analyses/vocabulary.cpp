#include "app/run/analyses/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/run/analyses/parameters.h"
#include "app/run/analyses/vectors.h"
#include "model/maths/best.h"
#include "model/pass/statistics.h"

namespace headscope::app {

namespace {

auto order_of_neighbour(const Neighbour& of) {
  return std::tuple(-of.cosine, of.id);
}

/// A neuron's output per unit of activation, as a row and as logits.
struct NeuronOutput {
  std::vector<float> row, logits;
};

NeuronOutput output_of(const model::Transformer& transformer, int layer, int neuron,
                       model::Workspace& workspace) {
  NeuronOutput output;
  output.row = layer_rows(transformer, layer, "mlp.c_proj.weight", neuron, 1).values;
  output.logits.resize(transformer.config().vocab_size);
  transformer.unembed(output.row, workspace, output.logits);
  return output;
}

NeuronTokens tokens_of(NeuronOutput output) {
  const auto norm = static_cast<float>(norm_of(output.row));
  return {strongest_pushes(std::move(output.logits)), norm};
}

}  // namespace

TokenPushes strongest_pushes(std::vector<float> logits) {
  TokenPushes result;
  result.up = model::largest_logits(logits, TokenPushes::kMax);
  for (float& logit : logits) logit = -logit;
  result.down = model::largest_logits(logits, TokenPushes::kMax);
  for (model::Guess& guess : result.down) guess.logit = -guess.logit;
  return result;
}

NeuronTokens TokensOfNeuron::compute(const PromptRun& run,
                                     const Computation<NeuronTokens>& computation) const {
  return tokens_of(output_of(*run.model->transformer, layer, neuron, computation.workspace));
}

NeuronTokens TokensOfNeuron::compute_difference(const PromptRun& run, const PromptRun& baseline,
                                                const Computation<NeuronTokens>& computation) const {
  NeuronOutput output = output_of(*run.model->transformer, layer, neuron, computation.workspace);
  const NeuronOutput baseline_output =
      output_of(*baseline.model->transformer, layer, neuron, computation.workspace);
  const auto subtract = [&](std::vector<float>& ours, const std::vector<float>& theirs) {
    for (std::size_t i = 0; i < ours.size(); ++i) ours[i] = after * ours[i] - before * theirs[i];
  };
  subtract(output.row, baseline_output.row);
  subtract(output.logits, baseline_output.logits);
  return tokens_of(std::move(output));
}

NearestTokens NearestTo::compute(const PromptRun& run, const Computation<NearestTokens>& computation) const {
  const int last = run.run->length() - 1;
  const model::Config& config = run.run->config;
  const std::size_t vocabulary = config.vocab_size;
  NearestTokens result;
  result.id = run.run->tokens[position < 0 ? last : std::min(position, last)];
  const std::size_t self = result.id;
  std::vector<float> row(config.n_embd), dots(vocabulary), norms(vocabulary);
  run.model->transformer->parameter_rows(0, result.id, 1, row);
  run.model->transformer->compare_embeddings(row, computation.workspace, dots, norms);
  result.norm = norms[self];
  model::Best<Neighbour, order_of_neighbour> nearest(NearestTokens::kMax);
  for (std::size_t id = 0; id < vocabulary; ++id) {
    const float cosine = dots[id] / (norms[id] * norms[self]);
    if (id != self && std::isfinite(cosine)) nearest.add({static_cast<int>(id), dots[id], norms[id], cosine});
  }
  result.tokens = nearest.sorted();
  return result;
}

}  // namespace headscope::app
