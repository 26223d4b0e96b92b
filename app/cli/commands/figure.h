#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "app/cli/arguments/arguments.h"
#include "app/cli/program.h"
#include "app/recipe/recipe.h"
#include "app/run/prompt_run.h"
#include "app/views/view.h"

namespace headscope::app {

/// Hashes of the weights (see weights_hash) that a figure was made with; empty: not known.
struct WeightHashes {
  std::string model;
  std::string second;  ///< of a second model
  bool empty() const { return model.empty() && second.empty(); }
};

/// Views' pictures, or their numbers.
struct PlotCommand : Arguments {
  std::vector<std::string> views;  ///< a file of each
  bool svg_text = false;
  bool no_caption = false;
  bool no_recipe = false;    ///< see SweepCommand
  std::optional<Page> page;  ///< of a picture whose size is given; nothing: exactly that
  Tries tries = {};
  std::shared_ptr<const PromptList> prompts = {};  ///< the list, where it does not come from `over_list`
  WeightHashes weights;                            ///< that the models must have; empty: any
  Destination out;
};

/// A picture of the whole window.
struct ShotCommand : Arguments {
  std::string view = std::string(view_at(Place::tab).id);
  std::string second_view = {};  ///< another view beside it; empty: none
  bool no_recipe = false;        ///< as of a plot
  WeightHashes weights;
  std::optional<Session> session;  ///< what the window shows, in place of all that is said above
  Destination out;
};

/// A view's picture of a run, or its numbers, as the bytes of a file. Of the command it takes all but what
/// the run is of and where the file goes; the selection is clamped to the run. `weights` are
/// for the recipe. Throws model::RunError that begins with `where` for what the view cannot show, and as
/// export_bytes does.
std::string figure_bytes(const PlotCommand& command, const View& view,
                         const std::shared_ptr<const PromptRun>& run,
                         const std::shared_ptr<const PromptList>& prompts, Answers& answers,
                         const viz::Fonts& fonts, const WeightHashes& weights, const std::string& where);

/// Into the file, which is there whole or not at all, or to standard output. Throws std::runtime_error, one
/// sentence: an unwritable path, a full disk, a picture for a terminal.
void write_output(const Destination& out, std::string_view bytes, const Streams& streams);

}  // namespace headscope::app
