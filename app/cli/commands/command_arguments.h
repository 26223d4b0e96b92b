#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/arguments/arguments.h"
#include "app/hub/hub_model.h"
#include "app/run/analyses/activation_search.h"
#include "app/run/analyses/head_metrics.h"
#include "app/run/analyses/metric_choice.h"
#include "app/run/analyses/saliency.h"
#include "app/run/analyses/sweep.h"
#include "app/run/analyses/weight_search.h"
#include "app/run/measured_metric.h"
#include "app/views/output/circuit_options.h"
#include "model/tokens/sampling.h"

// The arguments of each command, besides those that several share.
namespace headscope::app {

/// Options of commands with means over a list, which their arguments have as members.
struct MeanArguments {
  bool mean = false;
  bool csv = false;
  std::vector<std::filesystem::path> merge = {};  ///< parts, instead of a prompt
  bool writes_means() const { return mean || !merge.empty(); }
};

/// Options of commands that measure predictions, perhaps against a second prompt, and may draw them.
struct DrawnCommand : Arguments {
  bool no_recipe = false;  ///< the picture's file carries no recipe
  Destination out = {};
};

/// The window, which opens if no command is named.
struct WindowCommand : Arguments {
  std::filesystem::path file = {};  ///< a session or figure to show; empty: none
};

/// Fetches a model from the Hugging Face hub into the cache.
struct GetCommand : Arguments {
  std::string name;  ///< as typed
  HubModel wanted;
};

/// The most probable next tokens.
struct PredictCommand : Arguments {
  int top = 10;
  bool all_positions = false;
};

/// The logit lens after every position, or after one.
struct LensCommand : Arguments, MeanArguments {
  std::optional<int> top;  ///< guesses at each place; nothing: 5
  int guesses() const { return top.value_or(5); }
  GivenToken token = {};             ///< whose probability and rank are shown; none: the final answer
  std::optional<int> position = {};  ///< -1: the last; nothing: all, of means the last
};

/// Generates tokens by sampling.
struct GenerateCommand : Arguments {
  int tokens = 40;
  model::SamplingOptions sampling;
  std::uint64_t seed = 0;
  bool echo = false;  ///< print the prompt first
};

/// The share of each token of the prompt in a metric.
struct SaliencyCommand : Arguments {
  MeasuredMetric<GradientMetric> measured;
  SaliencyMethod method = SaliencyMethod::gradient_input;
  std::optional<SaliencyBaseline> baseline;  ///< of integrated gradients; nothing: not given
  std::optional<int> steps;                  ///< nothing: not given
};

/// Searches for heads with large weights between given tokens, or for large activations of neurons.
struct SearchCommand : Arguments {
  WeightSearch search;
  std::vector<NeuronIndex> neurons;  ///< none: weights are searched
  std::optional<double> above;       ///< as given; nothing: 0 of weights, no limit of activations
  int top = 20;
  std::optional<int>
      context;  ///< tokens on each side of a place; nothing: kContext of neurons, none of weights
  static constexpr int kContext = 8;
};

/// Metrics of heads over all prompts together, or over repeated random tokens.
struct MetricsCommand : Arguments {
  std::optional<RepeatedTokens> repeated;         ///< instead of prompts
  std::vector<std::filesystem::path> merge = {};  ///< parts of a measurement, instead of prompts
  std::optional<std::uint64_t> seed;              ///< seed of the random tokens; nothing: 0
  std::optional<HeadMetric> sort;                 ///< sort by this, largest first; nothing: by layer and head
  int top = 0;                                    ///< number of heads; 0: all
  bool csv = false;
};

/// Writes activations and gradients to a safetensors file.
struct TraceCommand : Arguments {
  std::string hooks;                         ///< globs, comma-separated; empty: all
  MeasuredMetric<GradientMetric> gradients;  ///< without a given metric: no gradients
  std::filesystem::path out;
};

/// Of what is split further by an option: every layer, or head.
inline constexpr int kAll = -1;

/// The contribution of each part of the model to a logit.
struct AttributeCommand : Arguments, MeanArguments {
  MeasuredMetric<GradientMetric> measured;  ///< a logit or a difference
  std::optional<model::HeadIndex> sources;  ///< the head, or kAll, that is split by source token
  std::optional<int> neurons_of;            ///< the layer, or kAll, whose MLP is split by neuron
  std::optional<int> top;                   ///< the number of neurons in text; nothing: 20
};

/// The strongest edges between the parts of the model, and what they keep of a metric.
struct CircuitCommand : DrawnCommand {
  CircuitMethod method = CircuitMethod::integrated;
  MeasuredMetric<GradientMetric> measured{GradientMetric::difference};
  std::optional<CircuitCut> ablation;  ///< nothing: not given
  int edges = kCircuitEdges;
  std::optional<int> steps;  ///< nothing: not given
  bool by_position = false;
  bool ablates_with_means() const { return ablation == CircuitCut::mean; }
};

/// Whether the first-order estimates of a sweep's cells are written.
enum class EstimatesWritten {
  none,
  also,  ///< besides the exact differences
  only,  ///< and no cell is computed
};

/// The effect on a guess of editing each head, or other parts of the model, one at a time.
struct SweepCommand : DrawnCommand, MeanArguments {
  MeasuredMetric<SweepMetric> measured{SweepMetric::difference};
  SweepOver over = SweepOver::heads;
  SweepEdit edit = SweepEdit::zero;
  model::Site site = model::Site::z;
  EstimatesWritten estimates = EstimatesWritten::none;
  std::optional<SweepEdit> ablation;      ///< as given; nothing: not given
  std::optional<model::Site> given_site;  ///< as given; nothing: not given
  std::optional<int> top;                 ///< neurons, as given; nothing: not given
  std::optional<std::string> receiver;    ///< as given; nothing: not given
  bool restored = false;                  ///< changes as shares of the difference between both prompts
  bool ablates_with_means() const { return ablation == SweepEdit::mean; }
};

}  // namespace headscope::app
