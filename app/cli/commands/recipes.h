#pragma once
#include <string>

#include "app/cli/cli.h"
#include "app/run/prompt_run.h"

namespace headscope::app {

/// What a view's picture of a run was made of; `weights`: the model's hash.
Recipe recipe_of(const PlotCommand& command, const View& view, const PromptRun& run,
                 const std::string& weights);

/// Throws model::RunError where the hash of a model's weights is not the one that is wanted.
void require_weights(const std::string& wanted, const std::string& found, const std::string& name);

}  // namespace headscope::app
