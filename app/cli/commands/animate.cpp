#include "app/cli/commands/animate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/engine.h"
#include "app/cli/commands/recipes.h"
#include "app/cli/status_line.h"
#include "app/run/analyses/patterns.h"
#include "app/run/answers.h"
#include "app/views/parts/names.h"
#include "model/files/error.h"
#include "model/files/quote.h"
#include "viz/players/animated_png.h"
#include "viz/players/players.h"
#include "viz/scene/blend.h"

namespace headscope::app {
namespace {

constexpr std::size_t kMostSteps = 200;
constexpr double kTransitionSeconds = 0.25;
/// What the selection can go through; the rest are options of the view.
constexpr std::string_view kHead = "head", kLayer = "layer", kQuery = "query";

bool is_of_selection(std::string_view through) {
  return through == kHead || through == kLayer || through == kQuery;
}

const OptionSpec* option_of(const View& view, std::string_view name) {
  const auto found = std::ranges::find(view.options, name, &OptionSpec::name);
  return found == view.options.end() ? nullptr : *found;
}

/// The values of an option, in order; empty if they cannot be listed.
std::vector<OptionValue> values_through(const OptionSpec& option) {
  std::vector<OptionValue> values;
  const bool real = std::holds_alternative<double>(option.default_value);
  const auto add = [&](double value) {
    if (real) values.emplace_back(value);
    if (!real) values.emplace_back(static_cast<int>(std::lround(value)));
  };
  if (std::holds_alternative<bool>(option.default_value)) return {false, true};
  if (!real && !std::holds_alternative<int>(option.default_value)) return values;
  if (!option.choices.empty()) {
    for (std::size_t i = 0; i < option.choices.size(); ++i) add(static_cast<double>(i));
  } else if (!option.steps.empty()) {
    for (const double step : option.steps) add(step);
  } else if (const double last = (option.high - option.low) / option.step; last <= 10 * double{kMostSteps}) {
    for (int i = 0; i <= static_cast<int>(std::lround(last)); ++i) add(option.low + i * option.step);
  }
  return values;
}

double as_number(const OptionValue& value) {
  if (const int* whole = std::get_if<int>(&value)) return *whole;
  if (const double* real = std::get_if<double>(&value)) return *real;
  return std::get<bool>(value) ? 1 : 0;
}

/// The figures that the animation goes through: the command with one selection or option after the other.
std::vector<PlotCommand> steps_of(const AnimateCommand& command, const View& view, const PromptRun& run) {
  const Selection chosen = clamped(command.selection.value_or(Selection{}), run);
  const auto within = [&](double value) {
    return !command.range || (value >= command.range->first && value <= command.range->second);
  };
  std::vector<PlotCommand> steps;
  const auto add = [&](double value, const auto& change) {
    if (!within(value)) return;
    change(steps.emplace_back(command));
  };
  const auto select = [&](int count, int Selection::*member) {
    for (int i = 0; i < count; ++i)
      add(i, [&](PlotCommand& step) {
        step.selection = chosen;
        (*step.selection).*member = i;
      });
  };
  const model::Config& config = run.run->config;
  if (command.through == kHead) {
    select(config.n_head, &Selection::head);
  } else if (command.through == kLayer) {
    select(config.n_layer, &Selection::layer);
  } else if (command.through == kQuery) {
    select(run.run->length(), &Selection::query);
  } else {
    const OptionSpec& option = *option_of(view, command.through);
    for (const OptionValue& value : values_through(option))
      add(as_number(value), [&](PlotCommand& step) { step.options.set(option, value); });
  }
  const std::string what = "--through " + command.through;
  if (steps.empty()) throw model::RunError(what + " has no value in --range; leave it out for all values");
  if (steps.size() > kMostSteps)
    throw model::RunError(what + " has " + grouped(std::ssize(steps)) +
                          " values, but an animation takes at most " + std::to_string(kMostSteps) +
                          "; choose some with --range FIRST:LAST");
  return steps;
}

/// All pictures on pages of the same size.
void make_equal(std::vector<viz::Scene>& scenes) {
  float width = 0, height = 0;
  for (const viz::Scene& scene : scenes)
    width = std::max(width, scene.width), height = std::max(height, scene.height);
  for (viz::Scene& scene : scenes) scene.width = width, scene.height = height;
}

/// Slow at both ends.
float eased(double t) {
  return static_cast<float>(t * t * (3 - 2 * t));
}

/// Each picture for a while, with a transition to the next, and from the last to the first.
std::string animation(const AnimateCommand& command, const std::vector<viz::Scene>& scenes,
                      const viz::Fonts& fonts, std::vector<viz::Note> notes, StatusLine& line) {
  const float scale = command.picture.scale;
  viz::AnimatedPng file(scale, notes);
  const int between = static_cast<int>(std::lround(kTransitionSeconds * command.fps)) - 1;
  const auto milliseconds = [](double seconds) { return static_cast<int>(std::lround(1000 * seconds)); };
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    const viz::Scene &from = scenes[i], &to = scenes[(i + 1) % scenes.size()];
    file.add(viz::rasterize(from, fonts, scale), milliseconds(command.hold));
    if (scenes.size() == 1) break;
    for (int frame = 1; frame <= between; ++frame) {
      const double done = frame / (between + 1.0);
      // The ends of all frames are rounded, not their durations, so that they add up.
      const double last = frame, rate = command.fps;
      const int begin = milliseconds((last - 1) / rate), end = milliseconds(last / rate);
      file.add(viz::rasterize(viz::blend(from, to, eased(done)), fonts, scale), end - begin);
      line.tell_work("", "frames", (static_cast<double>(i) + done) / static_cast<double>(scenes.size()));
    }
  }
  return std::move(file).take();
}

void draw(const AnimateCommand& command, Engine& engine, PromptRun made, const std::string& where,
          const Streams& streams) {
  const auto run = std::make_shared<const PromptRun>(std::move(made));
  if (!run->model->patterns) warn_about(*run, where, streams.err);
  const Selection selection = command.selection.value_or(Selection{});
  require_below(run->run->config.n_layer, selection.layer, where, "layer", "; see --layer");
  require_below(run->run->config.n_head, selection.head, where, "head", "; see --head");
  require_below(run->run->length(), selection.query, where, "token", "; see --query");
  const View& view = *find_view(command.views.front());
  const std::vector<PlotCommand> steps = steps_of(command, view, *run);
  const auto fonts = viz::Fonts::load();
  StatusLine line(streams);
  DirectAnswers answers(run, engine.workspace,
                        [&](std::string_view work, double done) { line.tell_work(where, work, done); });
  std::vector<viz::Scene> scenes;
  for (const PlotCommand& step : steps)
    scenes.push_back(figure_scene(step, view, run, answers, *fonts, where));
  make_equal(scenes);
  const WeightHashes weights =
      command.no_recipe ? WeightHashes{} : weights_of(*engine.model, engine.second.get());
  const std::string bytes =
      animation(command, scenes, *fonts, figure_notes(steps.front(), view, *run, nullptr, weights), line);
  line.clear();
  write_output(command.out, bytes, streams);
}

void run_animate(const AnimateCommand& command, const Streams& streams) {
  Engine engine =
      start_engine(command.model, command.prompt.edits, Capability::patterns, SecondModelUse::baseline);
  if (engine.model->patterns)
    return draw(command, engine, run_of_patterns(engine, command.prompt, command.comparison, streams.err), "",
                streams);
  const Baseline baseline = baseline_of(engine, command.comparison, command.prompt.start_token);
  for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const Prompt& prompt) {
    PromptRun run = run_prompt(engine, prompt, source.where());
    compare(engine, run, baseline);
    draw(command, engine, std::move(run), source.where(), streams);
  });
}

void check_animate(AnimateCommand& animate) {
  animate.views = animate.choices;
  if (animate.views.size() != 1)
    throw UsageError("animate needs one view, e.g. headscope animate heatmap --through head; the views are " +
                     list_of_views());
  const View& view = *find_view(animate.views.front());
  if (animate.through.empty())
    throw UsageError("animate needs --through: head, layer, query or an option of the view");
  if (!is_of_selection(animate.through)) {
    const OptionSpec* option = option_of(view, animate.through);
    if (option == nullptr || values_through(*option).empty()) {
      std::string names;
      for (const OptionSpec* other : view.options)
        if (!values_through(*other).empty()) names += ", " + std::string(other->name);
      throw UsageError("--through takes head, layer, query" + names + " with the view " +
                       std::string(view.name()) + ", not " + model::quote(animate.through));
    }
  }
  require_prompt_or_attention(animate);
  animate.out = destination_of(animate, "loop.png", {FileFormat::png});
  if (!animate.scale_given && animate.picture.target == Target::screen) animate.picture.scale = 1;
  set_for_target(animate);
  check_pixels(animate.picture, animate.out.format);
}

/// "3:12".
std::pair<double, double> range_of(const std::string& option, const std::string& text) {
  const auto parts = halves(text, ':');
  if (!parts) throw UsageError(option + " takes FIRST:LAST, e.g. 3:12, not " + model::quote(text));
  constexpr double kMost = 1e9;
  const char* const words = "from -1e9 to 1e9";
  const std::pair range{number(option, parts->first, -kMost, kMost, words),
                        number(option, parts->second, -kMost, kMost, words)};
  if (range.first > range.second)
    throw UsageError(option + " takes FIRST:LAST with FIRST at most LAST, not " + model::quote(text));
  return range;
}

void add_options(CommandSyntax& command, AnimateCommand& own) {
  command.computing();
  command.prompt(false);
  command.attention(true);
  command.comparison();
  command.selection();
  CommandSyntax motion = command.under("Animation");
  motion.option("through", "head|layer|query|OPTION",
                "what changes from picture to picture: the heads of the layer, the layers, the\n"
                "queries, or the values of one of the view's options",
                own.through);
  motion.option("range", "FIRST:LAST", "only these values of it, from FIRST to LAST (default: all)",
                own.range, range_of);
  motion.option("hold", "SECONDS", "how long each picture is shown (default: 1)", own.hold,
                between(0.01, 60, "from 0.01 to 60"));
  motion.option("fps", "N", "pictures per second of a transition (default: 25)", own.fps, whole(1, 60));
  command.picture();
  CommandSyntax picture = command.under(CommandSyntax::kPicture);
  picture.flag("no-caption", "omit the caption, which names model, prompt, layer and head", own.no_caption);
  picture.flag("no-title", "omit the title, for figures whose title is in the text around them",
               own.no_title);
  command.no_recipe(own.no_recipe);
  command.picture_out("png", "the file, an animated PNG (--scale: 1 by default)");
}

}  // namespace

Finish describe_animate(CommandSyntax& command) {
  const auto own = std::make_shared<AnimateCommand>();
  add_options(command, *own);
  command.footer("headscope animate VIEW --help lists the options of a view.");
  for (const View& view : views()) {
    CommandSyntax of_view = command.choice(view.name(), view.help, view.id);
    if (!command.may_name(view.name()) && !command.may_name(view.id)) continue;
    add_options(of_view, *own);
    of_view.view_options("View", view.options);
  }
  return command.finish(own, check_animate, run_animate);
}

}  // namespace headscope::app
