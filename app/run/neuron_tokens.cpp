#include "app/run/neuron_tokens.h"

#include <algorithm>
#include <string>

#include "app/run/vectors.h"
#include "model/statistics.h"

namespace headscope::app {
namespace {

std::vector<TokenPush> largest(std::span<const float> logits, float sign) {
  std::vector<TokenPush> result;
  for (const model::Guess& guess : model::largest_logits(logits, NeuronTokens::kMost))
    result.push_back({guess.id, sign * guess.logit});
  return result;
}

}  // namespace

NeuronTokens TokensOfNeuron::compute(const PromptRun& run, const Work<NeuronTokens>& work) const {
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  const std::string name = "h." + std::to_string(layer) + ".mlp.c_proj.weight";
  const auto index = std::ranges::find(transformer.parameters(), name, &model::Parameter::name) -
                     transformer.parameters().begin();
  std::vector<float> row(static_cast<std::size_t>(config.n_embd)),
      logits(static_cast<std::size_t>(config.vocab_size));
  transformer.parameter_rows(static_cast<std::size_t>(index), neuron, 1, row);
  transformer.unembed(row, work.workspace, logits);
  NeuronTokens result;
  result.norm = static_cast<float>(norm_of(row));
  result.up = largest(logits, 1);
  for (float& logit : logits) logit = -logit;
  result.down = largest(logits, -1);
  return result;
}

}  // namespace headscope::app
