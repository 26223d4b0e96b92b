#pragma once
#include <memory>
#include <span>
#include <stop_token>

#include "app/run/prompt_run.h"
#include "model/pass/hooks.h"
#include "model/pass/transformer.h"

namespace headscope::app {

/// Recomputes positions [first, end) of a run with its edits, so that hooks can watch them; also positions
/// after `end` if edits make earlier positions depend on them. Throws model::Stopped.
void recompute(const PromptRun& run, int first, int end, const model::Hooks& hooks,
               model::Workspace& workspace, const std::stop_token& stop);

/// The run of the same tokens without edits: this one, one that was made, the baseline, or a new one. Throws
/// model::Stopped.
std::shared_ptr<const model::Run> unedited_run(const PromptRun& run, model::Workspace& workspace,
                                               const std::stop_token& stop);

/// Has hooks copy what they see at a point into `values`, [positions, cols] row-major: positions from 0, as
/// far as there is room.
void copy_activation(model::Hooks& hooks, model::HookPoint point, std::span<float> values, int cols);

/// The row of a position in part of an activation; empty if the part has other positions.
std::span<const float> row_of(const model::ConstActivation2d& piece, int position);

}  // namespace headscope::app
