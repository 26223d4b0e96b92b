#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/arguments/arguments.h"
#include "app/cli/program.h"
#include "app/recipe/recipe.h"
#include "app/run/prompt_run.h"
#include "app/views/view.h"

namespace headscope::app {

/// Hashes (see weights_hash) of the weights that a figure was made with; empty: unknown.
struct WeightHashes {
  std::string model;
  std::string second;  ///< name of the second model
  bool empty() const { return model.empty() && second.empty(); }
};

/// Makes pictures of views, or tables of their numbers.
struct PlotCommand : Arguments {
  std::vector<std::string> views;  ///< a file for each
  bool mean = false;               ///< over the prompts
  bool svg_text = false;
  bool no_caption = false;
  bool no_title = false;
  bool no_recipe = false;  ///< see SweepCommand
  Tries tries = {};
  std::shared_ptr<const PromptList> prompts = {};     ///< the list, unless it comes from `over_list`
  WeightHashes weights;                               ///< required of the models; empty: any
  std::vector<std::string_view> recipe_options = {};  ///< options of the selection that a recipe gives
  Destination out;
};

/// Sets the options of views that name tokens, now that the vocabulary is known. Throws model::RunError for a
/// text that is not one token, an id outside the vocabulary, and a rank that the view does not take.
void set_tokens(Options& options, const std::vector<ViewToken>& tokens, const LoadedModel& model);

/// Makes a picture of the whole window.
struct ShotCommand : Arguments {
  std::string view = std::string(view_at(Place::tab).id);
  std::string second_view = {};  ///< empty: none
  bool no_recipe = false;        ///< as in PlotCommand
  WeightHashes weights;
  std::optional<Session> session;  ///< a session to show instead of all the above
  Destination out;
};

/// A view's picture of a run, or its numbers, as the bytes of a file. Everything except the run and the
/// output comes from the command; the selection is clamped to the run. `weights` go into the recipe.
/// Throws model::RunError if the view cannot show the run, and for what export_bytes throws.
std::string figure_bytes(const PlotCommand& command, const View& view,
                         const std::shared_ptr<const PromptRun>& run,
                         const std::shared_ptr<const PromptList>& prompts, Answers& answers,
                         const viz::Fonts& fonts, const WeightHashes& weights);

/// Writes to the file, atomically, or to standard output. Throws std::runtime_error (one sentence) for an
/// unwritable path, a full disk, or a picture for a terminal.
void write_output(const Destination& out, std::string_view bytes, const Streams& streams);

}  // namespace headscope::app
