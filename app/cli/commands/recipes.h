#pragma once
#include <filesystem>
#include <string>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/words.h"
#include "app/cli/commands/figure.h"
#include "app/run/prompt_run.h"

namespace headscope::app {

/// A picture as a file says that it was made, but for what the arguments say otherwise.
struct RecipeCommand : Arguments {
  std::filesystem::path file;
  bool window = false;      ///< of the whole window, whatever the file's is of
  std::vector<Word> words;  ///< the others that were given, the command's name left out
};

/// `plot` or `shot` with a recipe in a file; nothing where it is something else, or help is asked for.
std::optional<Command> recipe_command(const std::vector<std::string>& arguments);
/// The command that makes a recipe's figure, but for what the words say otherwise. `given` has no command's
/// name; of a view that it names those of the recipe's options stay that the view has. Where the models and
/// files are, and what only the rest of the recipe says, is not in it yet.
Command command_from(Recipe recipe, std::span<const Word> given);
/// What a figure or a session was made of, on lines or as JSON.
void write_recipe(const std::filesystem::path& file, bool json, std::ostream& out);

/// What a view's picture of a run was made of.
Recipe recipe_of(const PlotCommand& command, const View& view, const PromptRun& run,
                 const PromptList* prompts, const WeightHashes& weights);

/// Of the models of a run; null: there is no second one. Throws as weights_hash.
WeightHashes weights_of(const LoadedModel& model, const LoadedModel* second);

/// Throws model::RunError where the weights of the models of those names, or of a file of attention, are not
/// those that are wanted.
void require_weights(const WeightHashes& wanted, const WeightHashes& found, const ModelArguments& model,
                     const std::string& name, const std::string& second_name);

/// What a session or figure is of, where no argument says it; a second file or model that is given takes its
/// place in the session. Files of attention are looked for beside `file` and in the folder that headscope was
/// started in; throws model::LoadError where they are not there.
void find_subject(Session& session, const std::filesystem::path& file, ModelArguments& model,
                  std::filesystem::path& second_attention, std::optional<ModelArguments>& second_model);

}  // namespace headscope::app
