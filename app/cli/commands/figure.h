#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "app/cli/arguments/command.h"
#include "app/cli/program.h"
#include "app/run/prompt_run.h"
#include "app/views/view.h"

namespace headscope::app {

/// A view's picture of a run, or its numbers, as the bytes of a file. Of the command it takes all but what
/// the run is of and where the file goes; the selection is clamped to the run. `weights` are
/// for the recipe. Throws model::RunError that begins with `where` for what the view cannot show, and as
/// export_bytes does.
std::string figure_bytes(const PlotCommand& command, const View& view,
                         const std::shared_ptr<const PromptRun>& run,
                         const std::shared_ptr<const PromptList>& prompts, Answers& answers,
                         const viz::Fonts& fonts, const MetricWeights& weights, const std::string& where);

/// Into the file, which is there whole or not at all, or to standard output. Throws std::runtime_error, one
/// sentence: an unwritable path, a full disk, a picture for a terminal.
void put(const Destination& out, std::string_view bytes, const Streams& streams);

}  // namespace headscope::app
