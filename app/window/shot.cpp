#include <cmath>
#include <stdexcept>

#include "app/window/core.h"
#include "app/window/window.h"

namespace headscope::app {

WindowSize least_window(float font_size) {
  // From the minimum widths of the panes and the heights of the bars, which all scale with the font.
  const float unit = font_size / kDefaultFontSize;
  return {static_cast<int>(std::ceil(800 * unit)), static_cast<int>(std::ceil(560 * unit))};
}

Shot render_shot(const ShotOptions& options) {
  const Figure& figure = options.figure;
  const WindowSize least = least_window(options.base.recipe.session.font_size);
  if (figure.width < least.width || figure.height < least.height)
    throw std::runtime_error("the window needs at least " + std::to_string(least.width) + "x" +
                             std::to_string(least.height) + " at this font size; --size is " +
                             std::to_string(figure.width) + "x" + std::to_string(figure.height));
  CoreOptions core_options;
  core_options.window = options.base;
  core_options.settings.session = options.base.recipe.session;
  add_assets(core_options);
  if (core_options.tour && (!options.base.second.empty() || options.base.recipe.session.second))
    throw std::runtime_error("a stop of a tour shows its own second prompt, or no second prompt or model");
  MemoryScreen screen;
  core_options.screen = &screen;
  Core core(std::move(core_options));
  core.settle();
  const Snapshot& snapshot = core.snapshot();
  if (!snapshot.error.empty() || !snapshot.run)
    throw std::runtime_error(snapshot.error.empty() ? "The prompt could not be run." : snapshot.error);
  if (core.state().message.is_error) throw std::runtime_error(core.state().message.text);
  options.report_run(*snapshot.run);
  for (const SetOption& set : options.options) core.apply(set);
  const WindowFrame frame{.width = static_cast<float>(figure.width),
                          .height = static_cast<float>(figure.height),
                          .device_scale = figure.how.scale,
                          .still = true};
  core.draw(frame);  // what is asked may depend on the room for it
  core.settle();
  for (const Question& question : core.window().asked)
    if (const auto known = core.snapshot().answers.find(question); known && known->lacked_memory)
      throw std::runtime_error(known->failure);
  return {core.picture(frame), core.session().session};
}

}  // namespace headscope::app
