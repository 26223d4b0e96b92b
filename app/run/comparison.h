#pragma once
#include "app/run/analyses/attention_questions.h"

// What became of attention between a run and the one that it is compared with: signed differences, cell by
// cell of the tokens that stand for each other.
namespace headscope::app {

/// After minus before. Masked where both are, and where one of the tokens has none that stands for it.
Pattern pattern_difference(const Pattern& after, const Pattern& before, const PromptRun& run);
/// Likewise of all stages; NaN where nothing stands for a token, ±inf where one of both is masked.
Stages stages_difference(const Stages& after, const Stages& before, const PromptRun& run);

}  // namespace headscope::app
