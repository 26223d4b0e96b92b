#pragma once
#include "app/run/analyses/attention_pattern.h"

// Attention measured by its output, not only by its weights.
namespace headscope::app {

/// How much a head writes from each key: the norm of weight times value through the head's rows of
/// c_proj.weight (Kobayashi et al. 2020, "Attention is Not Only a Weight"). Values include their biases and
/// edits; the answer's cells are these norms.
struct WeightedValuesOf {
  using Answer = Pattern;
  static constexpr std::string_view kName = "weighted values";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  bool operator==(const WeightedValuesOf&) const = default;
  Pattern compute(const PromptRun& run, const Computation<Pattern>& computation) const;
  Pattern difference(const Pattern& after, const Pattern& before, const PromptRun& run) const;
};

/// Attention rollout (Abnar & Zuidema 2020, "Quantifying Attention Flow in Transformers"): how much of each
/// position's embedding reaches each position by the end of a layer, if all heads count equally and the
/// residual stream counts half: the product of 0.5 I + 0.5 mean over heads of the patterns, from layer 0 on.
/// Rows add up to 1 if the patterns' rows do.
struct RolloutOf {
  using Answer = Pattern;
  static constexpr std::string_view kName = "attention rollout";
  static constexpr Capabilities kNeeds = Capability::patterns;
  int layer = 0;  ///< the last layer included
  bool operator==(const RolloutOf&) const = default;
  /// Throws RunError if keys are not the queries' tokens, and Stopped.
  Pattern compute(const PromptRun& run, const Computation<Pattern>& computation) const;
  Pattern difference(const Pattern& after, const Pattern& before, const PromptRun& run) const;
};

}  // namespace headscope::app
