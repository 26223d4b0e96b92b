#include <cmath>
#include <stdexcept>

#include "app/run/sources/paths.h"
#include "app/window/core.h"
#include "app/window/sessions.h"
#include "app/window/window.h"

namespace headscope::app {

WindowSize least_window(float font_size) {
  // From the minimum widths of the panes and the heights of the bars, which all scale with the font.
  const float unit = font_size / kDefaultFontSize;
  return {static_cast<int>(std::ceil(800 * unit)), static_cast<int>(std::ceil(560 * unit))};
}

Shot render_shot(const ShotOptions& options) {
  const WindowSize least = least_window(options.font_size);
  if (options.width < least.width || options.height < least.height) {
    throw std::runtime_error("the window needs at least " + std::to_string(least.width) + "x" +
                             std::to_string(least.height) + " at this font size; --size is " +
                             std::to_string(options.width) + "x" + std::to_string(options.height));
  }
  CoreOptions core_options;
  core_options.window = options.base;
  Session& first = core_options.settings.session;
  first.dark = options.dark, first.font_size = options.font_size;
  first.view = options.view;
  first.second_view = options.second_view;
  add_assets(core_options);
  if (core_options.tour && options.base.second.is_set())
    throw std::runtime_error("a stop of a tour shows its own second prompt, or no second prompt or model");
  NullScreen screen;  // the picture has one of its own
  core_options.screen = &screen;
  Core core(std::move(core_options));
  core.settle();
  const Snapshot& snapshot = core.snapshot();
  if (!snapshot.error.empty() || !snapshot.run)
    throw std::runtime_error(snapshot.error.empty() ? "The prompt could not be run." : snapshot.error);
  if (core.state().message.is_error) throw std::runtime_error(core.state().message.text);
  if (options.report_run) options.report_run(*snapshot.run);
  if (options.options)
    for (const SetOption& set : options.options(*snapshot.run->model)) core.apply(set);
  WindowFrame frame;
  frame.width = static_cast<float>(options.width);
  frame.height = static_cast<float>(options.height);
  frame.device_scale = options.scale;
  frame.still = true;
  core.draw(frame);  // what is asked may depend on the room for it
  core.settle();
  for (const Question& question : core.window().asked)
    if (const auto known = core.snapshot().answers.find(question); known && known->lacked_memory)
      throw std::runtime_error(known->failure);

  Session session = session_of(core.state(), core.snapshot());
  session.precision = options.base.precision;
  return {core.picture(frame), std::move(session)};
}

}  // namespace headscope::app
