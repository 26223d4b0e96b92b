#pragma once
#include <numeric>
#include <string_view>
#include <vector>

#include "app/run/analyses/stream_parts.h"

namespace headscope::app {

/// What each part of the model adds to a logit after one position, or to the difference of two logits: direct
/// logit attribution (Elhage et al. 2021; the direct effects of Wang et al. 2022). The final layer norm is
/// linear once its scale is held fixed, so the parts add up to the logit, also with edits.
struct Attribution {
  Measured measured = {};  ///< a logit, or the difference of two
  double logit = 0;        ///< as the model computed it
  double scale = 1;        ///< divisor in ln_f at the position: sqrt(variance + epsilon)

  /// In the order of the pass; then ln_f's bias, and what edits added outside the parts: to the residual
  /// stream itself, to attention's sum of heads, or after the blocks; only if there are such edits.
  std::vector<StreamSource> sources;
  std::vector<double> parts;  ///< what each of them adds, as edits left it

  double sum() const { return std::accumulate(parts.begin(), parts.end(), 0.0); }
  /// The logit minus the sum of the parts, which is the error of float32 rounding.
  double rounding_error() const { return logit - sum(); }
  bool edited() const { return !sources.empty() && sources.back().kind == StreamSource::Kind::edits; }
  /// What a source adds; 0 without it.
  double of(const StreamSource& source) const;
  double of_head(int layer, int head) const { return of({StreamSource::Kind::head, layer, head}); }
  /// Part by part, for the same tokens. Each side has its own scale of ln_f.
  Attribution minus(const Attribution& before, const PromptRun& run) const;
  std::size_t bytes() const { return bytes_of(sources, parts); }
};

struct AttributionOf {
  static constexpr std::string_view kName = "logit attribution";
  Measured measured = {};  ///< a logit, or the difference of two
  bool operator==(const AttributionOf&) const = default;
  /// Throws RunError for an id outside the vocabulary.
  Attribution compute(const PromptRun& run, const Computation<Attribution>& computation) const;
};

/// What a part of the model adds to a logit, split into numbers that add up to it, but for rounding.
struct SplitPart {
  std::vector<float> sizes;   ///< a source's weight, a neuron's activation
  std::vector<double> parts;  ///< same length
  bool by_position = true;    ///< the parts are of positions
  double bias = 0;            ///< of an MLP's output, which has no neuron
  /// What edits of the output, which come after the sum of its parts, add, and whether there are such edits.
  double edits = 0;
  bool edited = false;
  /// On the difference side: minus what positions of the baseline without a counterpart here add.
  double unmatched = 0;
  double sum() const { return std::accumulate(parts.begin(), parts.end(), bias + unmatched) + edits; }
  SplitPart minus(const SplitPart& before, const PromptRun& run) const;
  std::size_t bytes() const { return bytes_of(sizes, parts); }
};

/// What a head adds to a logit, split by source position, [position + 1], or [T] if the head sees later keys:
/// weight times value, through the head's rows of c_proj.weight and ln_f, in the direction of the token.
struct SourcesOf {
  static constexpr std::string_view kName = "source tokens of a head";
  int layer = 0;
  int head = 0;
  Measured measured = {};  ///< of the attribution: after the query, by ids
  bool operator==(const SourcesOf&) const = default;
  SplitPart compute(const PromptRun& run, const Computation<SplitPart>& computation) const;
};

/// What an MLP adds to a logit, split by neuron, [n_inner]: its activation after the nonlinearity, as edits
/// left it, times its row of mlp.c_proj.weight, through ln_f, in the direction of the token.
struct NeuronsOf {
  static constexpr std::string_view kName = "neurons of an MLP";
  static constexpr Capability kNeeds = Capability::weights | Capability::mlp;
  int layer = 0;
  Measured measured = {};  ///< of the attribution, by ids
  bool operator==(const NeuronsOf&) const = default;
  SplitPart compute(const PromptRun& run, const Computation<SplitPart>& computation) const;
};

}  // namespace headscope::app
