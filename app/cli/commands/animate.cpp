#include "app/cli/commands/animate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <variant>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/arguments/without_prompt.h"
#include "app/cli/batch.h"
#include "app/cli/commands/engine.h"
#include "app/cli/commands/recipes.h"
#include "app/cli/status_line.h"
#include "app/run/analyses/patterns.h"
#include "app/run/answers.h"
#include "app/views/option_names.h"
#include "app/views/parts/names.h"
#include "model/files/error.h"
#include "model/files/quote.h"
#include "viz/players/animated_png.h"
#include "viz/players/players.h"
#include "viz/scene/blend.h"
#include "viz/scene/easing.h"

namespace headscope::app {
namespace {

constexpr std::size_t kMostSteps = 200;
constexpr double kTransitionSeconds = 0.25;
/// What the selection can go through; the rest are options of the view.
constexpr std::string_view kHead = "head", kLayer = "layer", kQuery = "query";

bool is_of_selection(std::string_view through) {
  return through == kHead || through == kLayer || through == kQuery;
}

using Range = std::optional<std::pair<double, double>>;

std::vector<double> within(const Range& range, std::vector<double> values) {
  if (range) std::erase_if(values, [&](double v) { return v < range->first || v > range->second; });
  return values;
}

void require_few(const std::string& what, double count) {
  if (count > double{kMostSteps})
    throw model::RunError(what + " has " + grouped(static_cast<std::int64_t>(count)) +
                          " values, but an animation takes at most " + std::to_string(kMostSteps) +
                          "; choose some with --range FIRST:LAST");
}

/// Whether an animation can go through an option's values.
bool can_go_through(const OptionSpec& option) {
  return std::holds_alternative<bool>(option.default_value) ||
         std::holds_alternative<int>(option.default_value) ||
         std::holds_alternative<double>(option.default_value);
}

/// The numbers of an option's values in a range, in order, without special ones such as "auto". Throws
/// model::RunError if there are too many.
std::vector<double> numbers_through(const OptionSpec& option, const Range& range) {
  if (std::holds_alternative<bool>(option.default_value)) return within(range, {0, 1});
  std::vector<double> numbers;
  if (!option.choices.empty()) {
    for (std::size_t i = 0; i < option.choices.size(); ++i) numbers.push_back(static_cast<double>(i));
    return within(range, numbers);
  }
  if (!option.steps.empty()) {
    std::ranges::copy_if(option.steps, std::back_inserter(numbers),
                         [&](double step) { return step >= option.low && step <= option.high; });
    return within(range, numbers);
  }
  // A sum of steps is not exact, and neither are the limits of a range.
  const double nearly = 0.01;
  const auto steps_to = [&](double value) { return (value - option.low) / option.step; };
  const double last = std::round(steps_to(option.high));
  const double first = range ? std::max(0.0, std::ceil(steps_to(range->first) - nearly)) : 0;
  const double end = range ? std::min(last, std::floor(steps_to(range->second) + nearly)) : last;
  require_few("--through " + std::string(option.name), end - first + 1);
  for (double i = first; i <= end; ++i) numbers.push_back(option.low + i * option.step);
  return numbers;
}

OptionValue value_of(const OptionSpec& option, double number) {
  if (std::holds_alternative<bool>(option.default_value)) return number != 0;
  if (std::holds_alternative<int>(option.default_value)) return static_cast<int>(std::lround(number));
  return number;
}

/// The figures that the animation goes through: the command with one selection or option after the other.
std::vector<PlotCommand> steps_of(const AnimateCommand& command, const View& view, const PromptRun& run) {
  const Selection chosen = clamped(command.selection.value_or(Selection{}), run);
  const std::string what = "--through " + command.through;
  std::vector<PlotCommand> steps;
  const auto select = [&](int count, int Selection::*member) {
    std::vector<double> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    all = within(command.range, std::move(all));
    require_few(what, static_cast<double>(all.size()));
    for (const double i : all) {
      PlotCommand& step = steps.emplace_back(command);
      step.selection = chosen;
      (*step.selection).*member = static_cast<int>(i);
    }
  };
  const model::Config& config = run.run->config;
  if (command.through == kHead) {
    select(config.n_head, &Selection::head);
  } else if (command.through == kLayer) {
    select(config.n_layer, &Selection::layer);
  } else if (command.through == kQuery) {
    select(run.run->length(), &Selection::query);
  } else {
    const OptionSpec& option = *option_of_flag(view, command.through);
    for (const double number : numbers_through(option, command.range))
      steps.emplace_back(command).options.set(option, value_of(option, number));
  }
  if (steps.empty()) throw model::RunError(what + " has no value in --range; leave it out for all values");
  return steps;
}

/// All pictures on pages of the same size.
void make_equal(std::vector<viz::Scene>& scenes) {
  float width = 0, height = 0;
  for (const viz::Scene& scene : scenes)
    width = std::max(width, scene.width), height = std::max(height, scene.height);
  for (viz::Scene& scene : scenes) scene.width = width, scene.height = height;
}

/// Whether a picture between the last value and the first would say that it goes back through all others.
bool is_ordered(const OptionSpec* option) {
  return option != nullptr && option->choices.empty() && !std::holds_alternative<bool>(option->default_value);
}

/// The picture between two, with numbers and words of the nearer one.
viz::Scene picture_between(const viz::Scene& from, const viz::Scene& to, float t) {
  return t < 0.5F ? viz::blend(to, from, 1 - t) : viz::blend(from, to, t);
}

/// Each picture for a while, with a transition to the next and, if it `returns`, from the last to the first.
std::string animation(const AnimateCommand& command, const std::vector<viz::Scene>& scenes, bool returns,
                      const viz::Fonts& fonts, std::vector<viz::Note> notes, StatusLine& line) {
  const float scale = command.picture.scale;
  viz::AnimatedPng file(scale, notes);
  const int frames = static_cast<int>(std::lround(kTransitionSeconds * command.fps)) - 1;
  const auto milliseconds = [](double seconds) { return static_cast<int>(std::lround(1000 * seconds)); };
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    const viz::Scene &from = scenes[i], &to = scenes[(i + 1) % scenes.size()];
    file.add(viz::rasterize(from, fonts, scale), milliseconds(command.hold));
    if (i + 1 == scenes.size() && !returns) break;
    for (int frame = 1; frame <= frames; ++frame) {
      const double done = frame / (frames + 1.0);
      // The ends of all frames are rounded, not their durations, so that they add up.
      const double last = frame, rate = command.fps;
      const int begin = milliseconds((last - 1) / rate), end = milliseconds(last / rate);
      file.add(viz::rasterize(picture_between(from, to, static_cast<float>(viz::eased(done))), fonts, scale),
               end - begin);
      line.tell_work("", "frames", (static_cast<double>(i) + done) / static_cast<double>(scenes.size()));
    }
  }
  return std::move(file).take();
}

/// Throws UsageError if all pictures are the same.
void require_change(const AnimateCommand& command, const View& view, const std::vector<viz::Scene>& scenes) {
  const viz::Scene& first = scenes.front();
  if (scenes.size() == 1 || std::ranges::any_of(scenes, [&](const viz::Scene& scene) {
        return scene.width != first.width || scene.height != first.height || scene.items != first.items;
      }))
    return;
  throw UsageError("--through " + command.through + " changes nothing in the view " +
                   std::string(view.name()) + " here, so there is nothing to animate");
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
  std::vector<PlotCommand> steps = steps_of(command, view, *run);
  const auto fonts = viz::Fonts::load();
  StatusLine line(streams);
  DirectAnswers answers(run, engine.workspace,
                        [&](std::string_view work, double done) { line.tell_work(where, work, done); });
  if (is_of_selection(command.through) && steps.size() > 1)
    share_scale(steps, view, run, answers, *fonts, where);
  std::vector<viz::Scene> scenes;
  for (const PlotCommand& step : steps)
    scenes.push_back(figure_scene(step, view, run, answers, *fonts, where));
  require_change(command, view, scenes);
  make_equal(scenes);
  const bool returns = scenes.size() > 1 && !is_ordered(option_of_flag(view, command.through));
  const WeightHashes weights = command.no_recipe ? WeightHashes{} : weights_of(engine);
  const std::string bytes = animation(command, scenes, returns, *fonts,
                                      figure_notes(steps.front(), view, *run, nullptr, weights), line);
  line.clear();
  write_output(command.out, bytes, streams);
}

void run_animate(const AnimateCommand& given, const Streams& streams) {
  Engine engine =
      start_engine(given, streams, {.needs = Capability::patterns, .second = SecondModelUse::baseline});
  const AnimateCommand command = with_tokens(given, *engine.model);
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
    const OptionSpec* option = option_of_flag(view, animate.through);
    if (option == nullptr || !can_go_through(*option)) {
      std::string names;
      for (const OptionSpec* other : view.options)
        if (const std::string flag = flag_of(view, *other);
            can_go_through(*other) && option_of_flag(view, flag) == other)
          names += ", " + flag;
      throw UsageError("--through takes head, layer, query" + names + " with the view " +
                       std::string(view.name()) + ", not " + model::quote(animate.through));
    }
  }
  for (const ViewToken& token : animate.tokens)
    if (option_of_flag(view, animate.through) == (token.other ? view.tokens.other_rank : view.tokens.rank))
      throw UsageError(token.flag + " has no effect with --through " + animate.through +
                       ", which goes through the tokens by their ranks");
  complete_prompt(animate, animate.views);
  require_prompt_or_attention(animate);
  use_second(animate, views_named(animate.views));
  subtract_other_tokens(animate);
  check_given_options(animate);
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

void add_options(CommandSyntax& command, AnimateCommand& own, bool takes_token = false) {
  command.computing();
  command.prompt(false);
  command.attention(true);
  command.comparison();
  command.selection(takes_token);
  CommandSyntax motion = command.under("Animation");
  motion.option("through", "head|layer|query|OPTION",
                "what changes from picture to picture: the heads of the layer, the layers, the\n"
                "queries, or the values of one of the view's options; heads and layers have the same\n"
                "colours for the same weights, where the view can",
                own.through);
  motion.option("range", "FIRST:LAST", "only these values of it, from FIRST to LAST (default: all)",
                own.range, range_of);
  motion.option("hold", "SECONDS", "how long each picture is shown (default: 1)", own.hold,
                between(0.01, 60, "from 0.01 to 60"));
  motion.option("fps", "N", "pictures per second of a transition (default: 25)", own.fps, whole(1, 60));
  command.picture();
  command.figure_words(own.no_caption, own.no_title);
  command.no_recipe(own.no_recipe);
  command.picture_out("png", "the file, an animated PNG");
}

}  // namespace

Finish describe_animate(CommandSyntax& command) {
  const auto own = std::make_shared<AnimateCommand>();
  add_options(command, *own);
  command.footer("headscope animate VIEW --help lists the options of a view.");
  command.each_view([&](CommandSyntax& of_view, const View& view) {
    add_options(of_view, *own, view.tokens.rank != nullptr);
    if (view.tokens.rank != nullptr) of_view.footer(kTokenGrammar);
  });
  return command.finish(own, check_animate, run_animate);
}

}  // namespace headscope::app
