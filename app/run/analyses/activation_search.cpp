#include "app/run/analyses/activation_search.h"

#include <string>
#include <tuple>
#include <utility>

#include "app/run/analyses/over_prompts.h"
#include "app/run/recompute.h"
#include "model/files/error.h"

namespace headscope::app {

bool is_better(const FoundActivation& a, const FoundActivation& b) {
  const auto place = [](const FoundActivation& f) {
    return std::tuple(-f.activation, f.prompt, f.layer, f.neuron, f.position);
  };
  return place(a) < place(b);
}

WatchedNeurons::WatchedNeurons(std::vector<NeuronIndex> neurons, const LoadedModel& model)
    : neurons_(std::move(neurons)), values_(neurons_.size()) {
  const model::Config& config = model.transformer->config();
  for (std::size_t i = 0; i < neurons_.size(); ++i) {
    const auto [layer, neuron] = neurons_[i];
    if (layer < 0 || layer >= config.n_layer || neuron < 0 || neuron >= config.n_inner) {
      throw model::RunError(model.name + " has no neuron " + std::to_string(layer) + "." +
                            std::to_string(neuron) + ": it has layers 0 to " +
                            std::to_string(config.n_layer - 1) + " with neurons 0 to " +
                            std::to_string(config.n_inner - 1));
    }
    hooks_.watch({model::Site::mlp_post, layer},
                 [&values = values_[i], neuron = neuron](const model::ConstActivation2d& piece) {
                   values.resize(static_cast<std::size_t>(piece.first_pos) + piece.rows);
                   for (int row = 0; row < piece.rows; ++row)
                     values[piece.first_pos + row] = piece.row(row)[neuron];
                 });
  }
}

std::size_t FoundActivations::bytes() const {
  std::size_t sum = bytes_of(best) + progress.problem.size();
  for (const Excerpt& excerpt : excerpts) sum += excerpt.bytes();
  return sum;
}

void add_activations(const PromptRun& run, const ActivationSearch& search, const WatchedNeurons& watched,
                     int prompt, std::size_t most, FoundActivations& found) {
  const std::vector<int>& ids = run.run->tokens;
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  BestActivations best(most);
  for (int position = 0; position < run.run->length(); ++position) {
    if (!search.at.matches(tokenizer.text(ids[position]), position, run.run->length(), position)) continue;
    for (std::size_t i = 0; i < watched.neurons().size(); ++i) {
      const auto [layer, neuron] = watched.neurons()[i];
      const float activation = watched.of(i)[position];
      if (static_cast<double>(activation) > search.above)  // not NaN
        best.add({prompt, layer, neuron, position, ids[position], activation});
    }
  }
  join_found(found, best, prompt, most, [&](const FoundActivation& one) {
    const auto index =
        std::ranges::find(watched.neurons(), NeuronIndex{one.layer, one.neuron}) - watched.neurons().begin();
    const std::span<const float> activations = watched.of(static_cast<std::size_t>(index));
    return excerpt_of(run, one.position, search.excerpt, [&](int position) { return activations[position]; });
  });
}

FoundActivations ActivationsOfRun::compute(const PromptRun& run,
                                           const Computation<FoundActivations>& computation) const {
  const WatchedNeurons watched(search.neurons, *run.model);
  recompute(run, 0, run.run->length(), watched.hooks(), computation.workspace, computation.stop);
  FoundActivations found;
  add_activations(run, search, watched, 1, kMax, found);
  return found;
}

FoundActivations ActivationsOverList::compute(const PromptRun& run,
                                              const Computation<FoundActivations>& computation) const {
  const WatchedNeurons watched(search.neurons, *run.model);
  return over_prompts(
      over, over.list->prompts.size(), run, computation,
      [&](const PromptRun& one, std::size_t index, FoundActivations& answer) {
        add_activations(one, search, watched, static_cast<int>(index) + 1, ActivationsOfRun::kMax, answer);
      },
      [](FoundActivations&) {}, &watched.hooks());
}

}  // namespace headscope::app
