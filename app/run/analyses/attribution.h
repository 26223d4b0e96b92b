#pragma once
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "app/run/named.h"
#include "app/run/question.h"
#include "model/gradient/metric.h"

namespace headscope::app {

/// A token by its id, by its rank among the model's guesses after a position, or as the most probable one
/// that is not the token it is compared with.
struct TokenChoice {
  enum class By { none, rank, id, other };
  By by = By::none;
  int number = 0;  ///< rank: 0 is the most probable; beyond the vocabulary: the least probable
  static constexpr TokenChoice best(int rank = 0) { return {By::rank, rank}; }
  static constexpr TokenChoice of(int id) { return {By::id, id}; }
  static constexpr TokenChoice other() { return {By::other, 0}; }
  bool operator==(const TokenChoice&) const = default;
};

/// The chosen token's id, resolved by the logits after the position; -1: none. `token`: the id of the one
/// that it is compared with. Throws RunError for an id outside the vocabulary.
int id_of(const TokenChoice& choice, std::span<const float> logits, int token = -1);
/// The same for the token whose logit is subtracted from that of `token`. Throws RunError for the token
/// itself, too.
int other_id_of(const TokenChoice& choice, std::span<const float> logits, int token);
inline constexpr const char* kOneTwice =
    "both tokens are the same, so that their logits do not differ; choose another";

/// What gradients are taken of.
enum class GradientMetric {
  logit,            ///< a token's
  difference,       ///< difference of two tokens' logits
  log_probability,  ///< of a token
  loss,             ///< of the prompt
  divergence,       ///< KL(baseline || run) of all tokens
};

inline constexpr Named<GradientMetric> kGradientMetrics[] = {{"logit", GradientMetric::logit},
                                                             {"difference", GradientMetric::difference},
                                                             {"logprob", GradientMetric::log_probability},
                                                             {"loss", GradientMetric::loss},
                                                             {"kl", GradientMetric::divergence}};

/// How many tokens a metric names.
constexpr int token_count(GradientMetric metric) {
  if (metric == GradientMetric::difference) return 2;
  return metric == GradientMetric::logit || metric == GradientMetric::log_probability ? 1 : 0;
}

/// Whether answers have a metric in bits; the others are logits. What gradients are taken of is in nats.
constexpr bool is_in_bits(GradientMetric metric) {
  return metric >= GradientMetric::log_probability;
}

/// What the value of a run's metric is multiplied by for answers.
double unit_of(const model::Metric& metric);

/// A metric whose tokens may be ranks and whose baseline is the run's.
struct MetricChoice {
  GradientMetric metric = GradientMetric::logit;
  TokenChoice token = TokenChoice::best();
  TokenChoice against = TokenChoice::other();  ///< for a difference
  int position = -1;                           ///< of the prediction; -1: the last; not for the loss
  bool operator==(const MetricChoice&) const = default;
};

/// The metric for a run. Ranks are those of the unedited run if that is the run's baseline. The baseline of a
/// divergence is the run's at the position's counterpart. Throws RunError for a position, a token, a baseline
/// or a counterpart that does not exist.
model::Metric metric_for(const MetricChoice& choice, const PromptRun& run, model::Workspace& workspace);

/// "logit of ·it (id 340) minus ·that (id 326) after position 5"
std::string describe(const model::Metric& metric, const PromptRun& run);

/// What each part of the model adds to a logit after one position, or to the difference of two logits: direct
/// logit attribution (Elhage et al. 2021; the direct effects of Wang et al. 2022). The final layer norm is
/// linear once its scale is held fixed, so the parts add up to the logit, also with edits.
struct Attribution {
  int position = 0;
  int token = 0;     ///< id
  int against = -1;  ///< id of the token whose logit is subtracted; -1: none
  int layers = 0;
  double logit = 0;  ///< the token's logit as the model computed it, or the difference of two
  double scale = 1;  ///< divisor in ln_f at the position: sqrt(variance + epsilon)

  double token_embedding = 0;
  double position_embedding = 0;
  std::vector<double> heads;           ///< [n_layer, n_head]
  std::vector<double> attention_bias;  ///< [n_layer]: c_proj's
  std::vector<double> mlps;            ///< [n_layer], with their biases
  double final_bias = 0;               ///< ln_f's
  /// What edits added outside the parts: to the residual stream itself, to attention's sum of heads, or after
  /// the blocks. 0 without such edits. The parts are as the edits left them.
  double edits = 0;
  bool edited = false;  ///< whether there are such edits

  double sum() const;  ///< sum of all parts
  /// The logit minus the sum of the parts, which is the error of float32 rounding.
  double rounding_error() const { return logit - sum(); }
  int n_head() const { return static_cast<int>(heads.size()) / layers; }
  double head(int layer, int head) const { return heads[layer * n_head() + head]; }
  double layer(int layer) const;  ///< sum of its heads, its bias and its MLP
  /// Part by part, for the same tokens; each side with its own scale of ln_f.
  Attribution minus(const Attribution& before, const PromptRun& run) const;
  std::size_t bytes() const { return bytes_of(heads, attention_bias, mlps); }
};

struct AttributionOf {
  static constexpr std::string_view kName = "logit attribution";
  int position = 0;  ///< in the run
  TokenChoice token = TokenChoice::best();
  TokenChoice against = {};
  bool operator==(const AttributionOf&) const = default;
  /// Throws RunError for an id outside the vocabulary.
  Attribution compute(const PromptRun& run, const Computation<Attribution>& computation) const;
};

/// What a head adds to a logit, split by source position: weight times value, through the head's rows of
/// c_proj.weight and ln_f, in the direction of the token.
struct SourceParts {
  std::vector<float> weights;  ///< [position + 1], or [T] if the head sees later keys
  std::vector<double> parts;   ///< same length; with `edits` they add up to the head's part, but for rounding
  double edits = 0;     ///< what edits of the head's output, which come after the sum of its values, add
  bool edited = false;  ///< whether there are such edits
  /// On the difference side: minus the contribution of baseline positions without a counterpart here.
  double unmatched = 0;
  double sum() const { return std::accumulate(parts.begin(), parts.end(), unmatched) + edits; }
  /// A source without a counterpart in the baseline contributed nothing there.
  SourceParts minus(const SourceParts& before, const PromptRun& run) const;
  std::size_t bytes() const { return bytes_of(weights, parts); }
};

struct SourcesOf {
  static constexpr std::string_view kName = "source tokens of a head";
  int layer = 0;
  int head = 0;
  int position = 0;  ///< position of the query, in the run
  int token = 0;
  int against = -1;  ///< -1: none
  bool operator==(const SourcesOf&) const = default;
  SourceParts compute(const PromptRun& run, const Computation<SourceParts>& computation) const;
};

/// What an MLP adds to a logit, split by neuron: its activation after the nonlinearity times its row of
/// mlp.c_proj.weight, through ln_f, in the direction of the token. The bias of the output has no neuron.
struct NeuronParts {
  std::vector<float> activations;  ///< [n_inner], mlp.hook_post as edits left it
  std::vector<double> parts;       ///< [n_inner]; with `bias` and `edits` they add up to the MLP's part, but
                                   ///< for rounding
  double bias = 0;                 ///< mlp.c_proj.bias
  double edits = 0;     ///< what edits of the MLP's output, which come after the sum of its neurons, add
  bool edited = false;  ///< whether there are such edits
  double sum() const { return std::accumulate(parts.begin(), parts.end(), bias) + edits; }
  NeuronParts minus(const NeuronParts& before, const PromptRun& run) const;
  std::size_t bytes() const { return bytes_of(activations, parts); }
};

struct NeuronsOf {
  static constexpr std::string_view kName = "neurons of an MLP";
  static constexpr Capability kNeeds = Capability::weights | Capability::mlp;
  int layer = 0;
  int position = 0;  ///< in the run
  int token = 0;
  int against = -1;  ///< -1: none
  bool operator==(const NeuronsOf&) const = default;
  NeuronParts compute(const PromptRun& run, const Computation<NeuronParts>& computation) const;
};

}  // namespace headscope::app
