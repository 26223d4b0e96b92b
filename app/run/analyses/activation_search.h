#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "app/run/analyses/best_found.h"
#include "app/run/analyses/weight_search.h"
#include "app/run/neuron_index.h"
#include "app/run/prompt_list.h"
#include "app/run/question.h"
#include "model/pass/hooks.h"

// Search for the largest activations of neurons, over any number of prompts.
namespace headscope::app {

struct FoundActivation {
  int prompt = 1;  ///< from 1
  int layer = 0, neuron = 0, position = 0;
  int id = 0;  ///< of the token
  float activation = 0;
  bool operator==(const FoundActivation&) const = default;
};
/// The larger one; ties: the earlier prompt, layer, neuron and position.
bool is_better(const FoundActivation& a, const FoundActivation& b);
using BestActivations = BestFound<FoundActivation>;

struct ActivationSearch {
  std::vector<NeuronIndex> neurons;
  TokenSelector at;                                         ///< positions
  double above = -std::numeric_limits<double>::infinity();  ///< activations larger than this
  ExcerptSize excerpt = {16, 8};
  bool operator==(const ActivationSearch&) const = default;
};

/// Keeps the activations of neurons at all positions of a pass (mlp.hook_post, after the nonlinearity and
/// edits) that has its hooks; each pass replaces those of the one before.
class WatchedNeurons {
 public:
  /// Throws model::RunError for a neuron that the model does not have.
  WatchedNeurons(std::vector<NeuronIndex> neurons, const LoadedModel& model);
  WatchedNeurons(const WatchedNeurons&) = delete;
  WatchedNeurons& operator=(const WatchedNeurons&) = delete;
  const model::Hooks& hooks() const { return hooks_; }
  const std::vector<NeuronIndex>& neurons() const { return neurons_; }
  /// [T]: the activations of the neuron with this index in neurons().
  std::span<const float> of(std::size_t index) const { return values_[index]; }

 private:
  std::vector<NeuronIndex> neurons_;
  std::vector<std::vector<float>> values_;
  model::Hooks hooks_;
};

/// The largest activations.
struct FoundActivations {
  std::vector<FoundActivation> best;  ///< best first
  std::vector<Excerpt> excerpts;  ///< for each: the tokens around it, with the neuron's activation on each
  std::int64_t count = 0;         ///< total number of matches
  ListProgress progress;          ///< progress of a list
  std::size_t bytes() const;
};

/// Adds the activations in a run that `watched` saw to the `most` that are kept.
void add_activations(const PromptRun& run, const ActivationSearch& search, const WatchedNeurons& watched,
                     int prompt, std::size_t most, FoundActivations& found);

struct ActivationsOfRun {
  using Answer = FoundActivations;
  static constexpr std::string_view kName = "activations of neurons";
  static constexpr Capabilities kNeeds = Capability::weights | Capability::mlp;
  static constexpr std::size_t kMax = 200;  ///< how many are kept
  ActivationSearch search;
  bool operator==(const ActivationsOfRun&) const = default;
  FoundActivations compute(const PromptRun& run, const Computation<FoundActivations>& computation) const;
};

struct ActivationsOverList {
  using Answer = FoundActivations;
  static constexpr std::string_view kName = "activations of neurons over many prompts";
  static constexpr Capabilities kNeeds = ActivationsOfRun::kNeeds;
  static constexpr bool kModelOnly = true;
  OverPrompts over;
  ActivationSearch search;
  bool operator==(const ActivationsOverList&) const = default;
  /// Parts cover the first prompts.
  FoundActivations compute(const PromptRun& run, const Computation<FoundActivations>& computation) const;
};

}  // namespace headscope::app
