#pragma once
#include <span>
#include <stop_token>

#include "app/run/prompt_run.h"
#include "model/pass/hooks.h"
#include "model/pass/transformer.h"

namespace headscope::app {

/// Computes positions [first, end) of a run again, under its edits, so that hooks that watch see
/// them; where edits let positions depend on later ones, those behind `end` too. Throws
/// model::Stopped.
void watch_again(const PromptRun& run, int first, int end, const model::Hooks& hooks,
                 model::Workspace& workspace, const std::stop_token& stop);

/// A position's row of a piece; empty where it is of other positions.
std::span<const float> row_of(const model::ConstActivation2d& piece, int position);

}  // namespace headscope::app
