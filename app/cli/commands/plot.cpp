#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/cli/batch.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/engine.h"
#include "app/cli/commands/recipes.h"
#include "app/run/asking.h"
#include "app/run/weights_hash.h"
#include "app/views/common.h"
#include "app/views/export.h"
#include "model/error.h"
#include "model/plan.h"

namespace headscope::app {
namespace {

void check_range(const std::string& where, const char* what, const char* option, int value, int count) {
  if (value < count) return;
  throw model::RunError(where + "there is no " + what + " " + std::to_string(value) + ": they go from 0 to " +
                        std::to_string(count - 1) + " here; see " + option);
}

/// A key has to be one that the query may see in the head.
void check_key(const std::string& where, const Selection& wanted, const PromptRun& run) {
  const Selection chosen = clamped(wanted, run);
  if (chosen.key >= 0 || wanted.key < 0) return;
  const bool later =
      run.run->plan != nullptr && run.run->plan->sees_future(chosen.layer, chosen.head);
  check_range(where, "key", "--key", wanted.key, later ? run.run->length() : chosen.query + 1);
  throw model::RunError(where + "query " + std::to_string(chosen.query) + " does not see key " +
                        std::to_string(wanted.key) + " in " + head_name(chosen.layer, chosen.head) +
                        "; see --key");
}

std::string list_of_changing_views() {
  std::string list;
  for (const View& view : views())
    if (view.shows_change) list += (list.empty() ? "" : ", ") + std::string(view.id);
  return list;
}

/// So high that nothing has to scroll, but not higher than a page that can be handled, nor a file of more
/// than 100 million pixels; the view's own options show the rest.
float height_of(const View& view, const ViewContext& context, float scale) {
  constexpr float kUsual = 700;
  constexpr float kHighest = 4000;
  constexpr float kMostPixels = 1e8F;
  if (!view.whole_height) return kUsual;
  return std::min({std::ceil(view.whole_height(context)), kHighest,
                   std::floor(kMostPixels / (context.width * scale * scale))});
}

void plot_prompt(const PlotCommand& command, Engine& engine, const std::shared_ptr<const PromptRun>& run,
                 const std::string& where, const viz::Fonts& fonts, const std::string& weights,
                 const std::filesystem::path& out) {
  check_range(where, "layer", "--layer", command.selection.layer, engine.config().n_layer);
  check_range(where, "head", "--head", command.selection.head, engine.config().n_head);
  check_range(where, "token", "--token", command.selection.query, run->run->length());
  check_key(where, command.selection, *run);

  const View& view = *find_view(command.view);
  const viz::Theme theme = command.picture.dark ? viz::dark_theme() : viz::light_theme();
  DirectAnswers answers(run, engine.workspace);
  ViewContext context;
  context.run = run;
  context.answers = &answers;
  context.selection = clamped(command.selection, *run);
  context.chosen_query = context.selection.query;
  context.options = command.options;
  if (!command.tries.empty()) context.tries = std::make_shared<const Tries>(command.tries);
  context.theme = &theme;
  context.fonts = &fonts;
  context.width = static_cast<float>(command.picture.width);
  context.font_size = command.picture.font_size;
  if (view.refuse) {
    if (const std::string sentence = view.refuse(context); !sentence.empty())
      throw model::RunError(where + sentence);
  }
  if (command.comparison.side == Side::change && !view.shows_change)
    throw model::RunError(where + "the view " + command.view + " has no differences to show; those that have are " +
                          list_of_changing_views());
  context = on_side(command.comparison.side, view, std::move(context));
  const bool sized = command.picture.height > 0;
  if (sized) {
    context.height = static_cast<float>(command.picture.height);
  } else if (view.figure_size) {
    const viz::Point size = view.figure_size(context);
    context.width = std::max(context.width, size.x), context.height = size.y;
  } else {
    context.height = height_of(view, context, command.picture.scale);
  }
  ExportOptions options{.scale = command.picture.scale,
                        .svg_text = command.svg_text,
                        .caption = command.caption,
                        .page = sized ? command.page.value_or(Page::exact) : Page::trimmed};
  if (command.recipe) options.notes.push_back(note_of(recipe_of(command, *run, weights)));
  export_view(out, view, context, options);
}

}  // namespace

void run_plot(const PlotCommand& command, const Streams& streams) {
  Engine engine = start_engine(command.model, command.prompt.edits);
  const bool pictures = format_of(command.out) != FileFormat::csv;
  const bool hashed = (command.recipe && pictures) || !command.weights.empty();
  const std::string weights = hashed ? weights_hash(engine.model->folder) : std::string();
  if (!command.weights.empty()) require_weights(command.weights, weights, engine.model->name);
  const auto fonts = viz::Fonts::load();
  for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const Prompt& prompt) {
    const auto file = source.file(command.out);
    if (!file) return;
    PromptRun made = run_prompt(engine, prompt, source.where());
    compare(engine, made, command.comparison, source.where());
    const auto run = std::make_shared<const PromptRun>(std::move(made));
    warn_about(*run, source.where(), streams.err);
    plot_prompt(command, engine, run, source.where(), *fonts, weights, *file);
  });
}

}  // namespace headscope::app
