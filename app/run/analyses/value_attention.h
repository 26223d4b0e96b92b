#pragma once
#include "app/run/analyses/attention_pattern.h"

// Attention by what it moves, not by its weights alone.
namespace headscope::app {

/// How much of each key a head writes: the norm of weight times value through the head's rows of
/// c_proj.weight (Kobayashi et al. 2020, "Attention is Not Only a Weight"). Values as their biases and
/// edits leave them; the answer's cells are these norms.
struct WeightedValuesOf {
  using Answer = Pattern;
  static constexpr std::string_view kWork = "weighted values";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  bool operator==(const WeightedValuesOf&) const = default;
  Pattern compute(const PromptRun& run, const Work<Pattern>& work) const;
  Pattern difference(const Pattern& after, const Pattern& before, const PromptRun& run) const;
};

/// Attention rollout (Abnar & Zuidema 2020, "Quantifying Attention Flow in Transformers"): how much of each
/// position's embedding reaches each position by the end of a layer, if heads count alike and the residual
/// stream half: the product of 0.5 I + 0.5 mean over heads of the patterns, from layer 0 on. Rows add up to 1
/// where those of the patterns do.
struct RolloutOf {
  using Answer = Pattern;
  static constexpr std::string_view kWork = "attention rollout";
  static constexpr Capabilities kNeeds = Capability::patterns;
  int layer = 0;  ///< the last one that is taken in
  bool operator==(const RolloutOf&) const = default;
  /// Throws RunError where keys are not the queries' tokens; Stopped.
  Pattern compute(const PromptRun& run, const Work<Pattern>& work) const;
  Pattern difference(const Pattern& after, const Pattern& before, const PromptRun& run) const;
};

}  // namespace headscope::app
