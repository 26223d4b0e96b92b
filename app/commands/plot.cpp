#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/engine.h"
#include "app/export.h"
#include "app/prompt_source.h"
#include "model/error.h"

namespace headscope::app {
namespace {

void check_range(const std::string& where, const char* what, const char* option, int value, int count) {
  if (value < count) return;
  throw model::RunError(where + "there is no " + what + " " + std::to_string(value) + ": they go from 0 to " +
                        std::to_string(count - 1) + " here; see " + option);
}

/// What a view wants of the worker, computed at once.
struct ViewData {
  HeadData head;
  Thumbnails thumbnails;
  Statistics statistics;
  NextToken next;
};

ViewData compute(Engine& engine, const PromptRun& run, const Selection& selection, const Needs& needs) {
  ViewData data;
  if (needs.head) data.head = compute_head(run, selection.layer, selection.head, needs.stages);
  if (needs.thumbnails) {
    std::vector<model::HeadIndex> heads;
    for (int layer = 0; layer < engine.config().n_layer; ++layer) {
      for (int head = 0; head < engine.config().n_head; ++head) heads.push_back({layer, head});
    }
    data.thumbnails.of_head = compute_thumbnails(run, heads, engine.workspace);
  }
  if (needs.statistics) data.statistics = compute_statistics(run, engine.workspace, {});
  if (needs.next) data.next = compute_next(run, selection.query, engine.workspace);
  return data;
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

void plot_prompt(const PlotCommand& command, Engine& engine, const PromptRun& run, const std::string& where,
                 const viz::Fonts& fonts, const std::filesystem::path& out) {
  check_range(where, "layer", "--layer", command.selection.layer, engine.config().n_layer);
  check_range(where, "head", "--head", command.selection.head, engine.config().n_head);
  check_range(where, "token", "--token", command.selection.query, run.run->length());

  for (const int dimension : command.options.dimensions)
    check_range(where, "dimension", "--dimensions", dimension, engine.config().n_embd);

  const View& view = *find_view(command.view);
  const viz::Theme theme = command.picture.dark ? viz::dark_theme() : viz::light_theme();
  ViewContext context;
  context.run = &run;
  context.selection = clamped(command.selection, run);
  context.options = command.options;
  context.theme = &theme;
  context.fonts = &fonts;
  context.width = static_cast<float>(command.picture.width);
  context.font_size = command.picture.font_size;
  const ViewData data = compute(engine, run, context.selection, view.needs);
  if (view.needs.head) context.head = &data.head;
  if (view.needs.thumbnails) context.thumbnails = &data.thumbnails;
  if (view.needs.statistics) context.statistics = &data.statistics;
  if (view.needs.next) context.next = &data.next;
  context.height = command.picture.height > 0 ? static_cast<float>(command.picture.height)
                                              : height_of(view, context, command.picture.scale);
  export_view(out, view, context,
              {.scale = command.picture.scale, .svg_text = command.svg_text, .caption = command.caption});
}

}  // namespace

void run_plot(const PlotCommand& command, const Streams& streams) {
  Engine engine = start_engine(command.model);
  const auto fonts = viz::Fonts::load();
  PromptSource source(command.prompt, streams.in);
  while (const auto prompt = source.next()) {
    const PromptRun run = run_prompt(engine, *prompt, source.where());
    plot_prompt(command, engine, run, source.where(), *fonts,
                numbered(command.out, source.number(), source.many()));
  }
}

}  // namespace headscope::app
