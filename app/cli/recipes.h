#pragma once
#include <filesystem>
#include <iosfwd>
#include <string>

#include "app/cli/arguments.h"
#include "app/cli/engine.h"
#include "app/recipe/recipe.h"

// How a figure was made: written into it, and made again from it.
namespace headscope::app {

/// Hashes (see weights_hash) of the weights that a figure is made with; empty: unknown.
struct WeightHashes {
  std::string model;
  std::string second;
};
/// Throws like weights_hash.
WeightHashes weights_of(const Engine& engine);

/// Fills the arguments from a figure or a session, before those of the command line replace some of them.
/// `view`: the view to show, which keeps the options that it has; null: the whole window. Throws
/// model::LoadError.
void take_recipe(Arguments& arguments, const std::filesystem::path& file, const View* view);

/// Finds the models or attention files of a session or figure in `file` that the command line does not name.
/// Attention files are searched in its folder and in the current one. Throws model::LoadError if they are not
/// found.
void find_subject(Arguments& arguments, const std::filesystem::path& file);

/// Throws model::RunError if the models that a recipe names have other weights than it says.
void require_weights(const Arguments& arguments, const WeightHashes& found);

/// The recipe of a view's picture of a run with these options.
Recipe recipe_of(const Arguments& arguments, const View& view, const Options& options, const PromptRun& run,
                 const WeightHashes& weights);

/// Writes the recipe of a figure or a session, as lines or as JSON.
void write_recipe(const std::filesystem::path& file, bool json, std::ostream& out);

}  // namespace headscope::app
