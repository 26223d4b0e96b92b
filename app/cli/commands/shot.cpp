#include <ostream>
#include <utility>
#include <vector>

#include "app/cli/commands/commands.h"
#include "app/cli/commands/engine.h"
#include "app/cli/commands/figure.h"
#include "app/cli/commands/recipes.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/weights_hash.h"
#include "app/views/export.h"
#include "app/window/window.h"

namespace headscope::app {

void run_command(const ShotCommand& command, const Streams& streams) {
  WindowOptions base =
      window_options(command.model, command.prompt, command.comparison, command.tour, command.over, streams);
  base.selection = command.selection;
  if (command.session) {  // which has its changes itself
    base.session = Recipe{*command.session, {}};
    base.edits = nullptr;
  }
  MetricWeights weights;
  if (command.recipe || !command.weights.model.empty() || !command.weights.second.empty()) {
    weights.model = weights_hash(base.model);
    if (!base.second_model.empty()) weights.second = weights_hash(base.second_model);
  }
  require_weights(command.weights, weights, command.model, model_name(base.model),
                  model_name(base.second_model));
  const ShotOptions shot{.base = std::move(base),
                         .view = command.view,
                         .beside = command.beside,
                         .options = command.options,
                         .width = command.picture.width,
                         .height = command.picture.height,
                         .scale = command.picture.scale,
                         .dark = command.picture.dark,
                         .font_size = command.picture.font_size,
                         .seen = [&](const PromptRun& run) {
                           if (run.tokens.run_length < run.tokens.length())
                             streams.err << "headscope: " << one_line(beyond_context(run.tokens, *run.model))
                                         << "; the tokens after these are not run\n";
                         }};
  Shot made = render_shot(shot);
  std::vector<viz::Note> notes;
  made.session.model.weights = weights.model;
  if (made.session.second_model) made.session.second_model->weights = weights.second;
  const Figure figure{
      .window = true, .width = shot.width, .height = shot.height, .page = Page::exact, .scale = shot.scale};
  if (command.recipe) notes.push_back(note_of(Recipe{made.session, figure}));
  put(command.out, bitmap_bytes(command.out.format, made.bitmap, shot.scale, notes), streams);
}

}  // namespace headscope::app
