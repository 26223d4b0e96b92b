#include <ostream>

#include "app/cli/commands/commands.h"
#include "app/cli/commands/engine.h"
#include "app/cli/prompt_source.h"
#include "app/views/export.h"
#include "app/window/window.h"

namespace headscope::app {

void run_shot(const ShotCommand& command, const Streams& streams) {
  const ShotOptions shot{.base = {.model = model_folder(command.model),
                                  .model_given = command.model.model.has_value(),
                                  .prompt = PromptSource(command.prompt, streams.in).next(),
                                  .selection = command.selection,
                                  .threads = command.model.threads,
                                  .precision = command.model.precision},
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
