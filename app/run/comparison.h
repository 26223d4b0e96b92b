#pragma once
#include "app/run/analyses/attention_questions.h"
#include "app/run/analyses/thumbnails.h"

// What became of attention between a run and the one that it is compared with: signed differences, cell by
// cell of the tokens that stand for each other.
namespace headscope::app {

/// After minus before. Masked where both are, and where one of the tokens has none that stands for it.
Pattern pattern_difference(const Pattern& after, const Pattern& before, const PromptRun& run);
/// Likewise of all stages; NaN where nothing stands for a token, ±inf where one of both is masked.
Stages stages_difference(const Stages& after, const Stages& before, const PromptRun& run);

/// Small maps of what changed in each head's pattern, max-pooled after the subtraction. They have no figures.
/// Of a run that is compared with another.
struct HeadDifferences {
  using Answer = Thumbnails;
  static constexpr std::string_view kWork = "changes of patterns";
  static constexpr bool kQuick = false;
  static constexpr bool kOfComparison = true, kOfPatterns = true;
  bool operator==(const HeadDifferences&) const = default;
  Thumbnails compute(const PromptRun& run, const Work<Thumbnails>& work) const;
};

}  // namespace headscope::app
