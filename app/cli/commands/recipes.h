#pragma once
#include <filesystem>
#include <string>

#include "app/cli/cli.h"
#include "app/run/prompt_run.h"

namespace headscope::app {

/// What a view's picture of a run was made of; `weights`: the model's hash.
Recipe recipe_of(const PlotCommand& command, const View& view, const PromptRun& run,
                 const PromptList* prompts, const std::string& weights);

/// Throws model::RunError where the hash of a model's weights, or of a file of attention, is not the one that
/// is wanted.
void require_weights(const std::string& wanted, const std::string& found, const ModelArguments& model,
                     const std::string& name);

/// What a session or figure is of, where no argument says it; a second file that is given takes its place in
/// the session. Files of attention are looked for beside `file` and in the folder that headscope was started
/// in; throws model::LoadError where they are not there.
void find_subject(Session& session, const std::filesystem::path& file, ModelArguments& model,
                  std::filesystem::path& second_attention);

}  // namespace headscope::app
