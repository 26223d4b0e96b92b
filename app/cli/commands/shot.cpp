#include <ostream>
#include <utility>

#include "app/cli/commands/commands.h"
#include "app/cli/commands/engine.h"
#include "app/views/export.h"
#include "app/window/window.h"

namespace headscope::app {

void run_shot(const ShotCommand& command, const Streams& streams) {
  WindowOptions base = window_options(command.model, command.prompt, command.comparison, command.tour, streams);
  base.selection = command.selection;
  const ShotOptions shot{.base = std::move(base),
                         .view = command.view,
                         .options = command.options,
                         .width = command.picture.width,
                         .height = command.picture.height,
                         .scale = command.picture.scale,
                         .dark = command.picture.dark,
                         .font_size = command.picture.font_size,
                         .seen = [&](const PromptRun& run) {
                           if (run.tokens.run_length < run.tokens.length())
                             streams.err << "headscope: " << beyond_context(run.tokens, *run.model)
                                         << "; the tokens after these are not run\n";
                         }};
  export_bitmap(command.out, render_shot(shot), shot.scale);
}

}  // namespace headscope::app
