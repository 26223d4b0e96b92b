#pragma once
#include <numeric>
#include <string_view>
#include <vector>

#include "app/run/analyses/measured.h"

namespace headscope::app {

/// What each part of the model adds to a logit after one position, or to the difference of two logits: direct
/// logit attribution (Elhage et al. 2021; the direct effects of Wang et al. 2022). The final layer norm is
/// linear once its scale is held fixed, so the parts add up to the logit, also with edits.
struct Attribution {
  Measured measured = {};  ///< a logit, or the difference of two
  int layers = 0;
  double logit = 0;  ///< as the model computed it
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
  /// Part by part, for the same tokens. Each side has its own scale of ln_f.
  Attribution minus(const Attribution& before, const PromptRun& run) const;
  std::size_t bytes() const { return bytes_of(heads, attention_bias, mlps); }
};

struct AttributionOf {
  static constexpr std::string_view kName = "logit attribution";
  Measured measured = {};  ///< a logit, or the difference of two
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
  Measured measured = {};  ///< of the attribution: after the query, by ids
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
  Measured measured = {};  ///< of the attribution, by ids
  bool operator==(const NeuronsOf&) const = default;
  NeuronParts compute(const PromptRun& run, const Computation<NeuronParts>& computation) const;
};

}  // namespace headscope::app
