#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "app/cli/arguments/command.h"
#include "app/cli/arguments/words.h"
#include "app/cli/commands/engine.h"
#include "app/cli/commands/figure.h"
#include "app/run/prompt_run.h"

namespace headscope::app {

/// Makes a picture from the recipe in a file; other arguments override parts of the recipe.
struct RecipeCommand : Arguments {
  std::filesystem::path file;
  bool window = false;      ///< make a picture of the whole window, even if the recipe's is of a view
  std::vector<Word> words;  ///< the other arguments, without the command's name
};

/// Parses `plot` or `shot` with a recipe in a file; nothing if it is something else, or if help is requested.
/// Models that stay loaded are those of `start`.
std::optional<ParsedCommand> recipe_command(const std::vector<std::string>& arguments,
                                            const Arguments& start = {});
/// The command that makes a recipe's figure. The words `given`, which do not contain the command's name,
/// override parts of the recipe. If they name another view, it keeps those of the recipe's options that it
/// has. The command does not yet have the paths of models and files, nor what only the rest of the recipe
/// contains.
ParsedCommand command_from(Recipe recipe, std::span<const Word> given);
/// Writes the recipe of a figure or a session, as lines or as JSON.
void write_recipe(const std::filesystem::path& file, bool json, std::ostream& out);

/// The recipe of a view's picture of a run.
Recipe recipe_of(const PlotCommand& command, const View& view, const PromptRun& run,
                 const PromptList* prompts, const WeightHashes& weights);

/// Hashes of the models. Throws like weights_hash.
WeightHashes weights_of(const Engine& engine);

/// Throws model::RunError if the weights of the named models, or of an attention file, are not the wanted
/// ones.
void require_weights(const WeightHashes& wanted, const WeightHashes& found, const ModelArguments& model,
                     const std::string& name, const std::string& second_name);

/// Finds the models or attention files of a session or figure that the arguments do not name; a given second
/// file or model replaces the session's. Attention files are searched in the folder of `file` and in the
/// current folder; throws model::LoadError if they are not found.
void find_subject(Session& session, const std::filesystem::path& file, ModelArguments& model,
                  std::filesystem::path& second_attention, std::optional<ModelArguments>& second_model);

}  // namespace headscope::app
