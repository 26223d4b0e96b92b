#include <algorithm>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/figure.h"
#include "app/cli/commands/list_means.h"
#include "app/cli/commands/output.h"
#include "app/cli/commands/recipes.h"
#include "app/run/analyses/patterns.h"
#include "app/run/answers.h"
#include "app/run/sources/pattern_file.h"
#include "app/views/option_names.h"
#include "app/views/parts/list_means.h"
#include "model/files/error.h"
#include "model/files/quote.h"
#include "model/pass/plan.h"

namespace headscope::app {
namespace {

/// The end of an error about a place that does not exist: what the user can do.
std::string advice(const PlotCommand& command, std::string_view option) {
  const bool of_recipe = std::ranges::count(command.recipe_options, option) > 0;
  return (of_recipe ? "; it comes from the recipe: override it with " : "; see ") + std::string(option);
}

/// Whether there is a second model that the view can show but does not.
bool lacks_second(const PlotCommand& command, const View& view, const PromptRun& run) {
  if (!run.second_model || command.comparison.side != Side::run || view.on_baseline == nullptr) return false;
  ViewContext c;
  c.options = command.options;
  return !view.on_baseline(c) && !model::patches_from_second(run.prompt.edits);
}

/// A list of pairs is patched from its second prompts, unless an option says otherwise.
void patch_pairs(PlotCommand& plot, const PromptList& prompts) {
  std::vector<const View*> choosing = views_choosing_second(plot, views_named(plot.views));
  std::erase_if(choosing, [&](const View* view) { return !is_over_list(*view, plot.options); });
  const auto has_second = [](const ListedPrompt& line) { return line.second.has_value(); };
  if (choosing.empty() || std::ranges::none_of(prompts.prompts, has_second)) return;
  if (!all_have_second(prompts))
    throw model::RunError(
        model::quote(prompts.name) +
        ": some lines have a second prompt to patch from and some have none; choose what is "
        "done to all by --" +
        flag_of(*choosing.front(), *choosing.front()->with_second));
  choose_second(plot, choosing);
}

void run_plot(const PlotCommand& given, const Streams& streams) {
  const bool hashed = (!given.no_recipe && given.out.format != FileFormat::csv) || !given.weights.empty();
  Engine engine =
      start_engine(given, streams, {.needs = Capability::patterns, .second = SecondModelUse::baseline});
  PlotCommand command = given;
  set_tokens(command.options, given.tokens, *engine.model);
  const Selection selection = command.selection.value_or(Selection{});
  const WeightHashes weights = hashed ? weights_of(engine) : WeightHashes{};
  if (!command.weights.empty())
    require_weights(command.weights, weights, command.model, engine.model->name,
                    engine.second ? engine.second->name : "");
  const auto fonts = viz::Fonts::load();
  const std::shared_ptr<const PromptList> prompts =
      command.over_list.empty() ? command.prompts : list_of_prompts(command.over_list);
  if (prompts) patch_pairs(command, *prompts);
  require_below(engine.config().n_layer, selection.layer, "", "layer", advice(command, "--layer"));
  require_below(engine.config().n_head, selection.head, "", "head", advice(command, "--head"));
  const auto draw = [&](PromptRun made, const std::string& where, const std::filesystem::path& pattern) {
    const auto run = std::make_shared<const PromptRun>(std::move(made));
    warn_about(*run, where, streams.err);
    require_below(run->run->length(), selection.query, where, "token", advice(command, "--query"));
    if (const Selection chosen = clamped(selection, *run); chosen.key < 0 && selection.key >= 0)
      require_seen(*run, chosen, selection.key, where, advice(command, "--key"));
    DirectAnswers answers(run, engine.workspace, progress_of(where, streams));
    for (const std::string& id : command.views) {
      const View& view = *find_view(id);
      if (lacks_second(command, view, *run))
        streams.err << "headscope: " << where << "with these options, the view " << id
                    << " shows nothing of the second model\n";
      const std::string bytes = saying_where(
          where, [&] { return figure_bytes(command, view, run, prompts, answers, *fonts, weights); });
      write_output({with_name(pattern, "{view}", id), command.out.format}, bytes, streams);
    }
    for (const std::string& skipped : answers.skipped())
      streams.err << "headscope: " << where << one_line(skipped) << '\n';
  };
  if (engine.model->patterns)
    return draw(run_of_patterns(engine, command.prompt, command.comparison), "", command.out.file);
  const Baseline baseline = baseline_of(engine, command.comparison, command.prompt.start_token);
  for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const Prompt& prompt) {
    PromptRun made = run_prompt(engine, prompt, source.where());
    compare(engine, made, baseline);
    draw(std::move(made), source.where(), source.file(command.out.file));
  });
}

/// Lets views that can show a list of prompts show it, unless an option says otherwise.
void set_over(PlotCommand& plot) {
  if (plot.over_list.empty()) return;
  bool some = false;
  for (const std::string& id : plot.views) {
    const View& view = *find_view(id);
    some = some || view.over_list || sets_list_mean(view, plot.options);
    if (!view.over_list || sets_list_mean(view, plot.options) || is_given(plot, view.over_list)) continue;
    plot.options.set(*view.over_list, view.over_list_value);
  }
  if (!some)
    throw UsageError("--over applies only to views of many prompts, " + list_of_views(shows_prompt_list) +
                     ", and where list-mean is chosen to " + list_of_views(takes_means_of_list));
}

/// With --mean, --prompts gives the list of one figure, instead of a prompt for each.
void take_list(PlotCommand& plot) {
  if (!plot.mean) return;
  for (const std::string& id : plot.views) {
    if (!can_show_means(*find_view(id)))
      throw UsageError("--mean applies only to views of means: " + list_of_views(can_show_means));
    plot.options.set(kMeanOverList, true);
  }
  const PromptArguments& prompt = plot.prompt;
  const bool list = prompt.from == PromptArguments::From::list;
  if (!plot.over_list.empty())
    return refuse({{list, "--mean is over one list: give it by --prompts or by --over"}});
  refuse({{!list, "--mean requires --prompts"},
          {prompt.file == "-", "--mean draws the prompts of a file, not of standard input"},
          {prompt.shard.count > 1, "--shard is for a figure a prompt; --mean has one of all prompts"},
          {prompt.skip_errors, "--skip-errors is for a figure a prompt; --mean has one of all prompts"}});
  plot.over_list = prompt.file;
  plot.prompt.from = PromptArguments::From::nothing;
}

/// Means over a list are of each prompt in the unedited model, after its own position, patched from its own
/// second prompt.
void check_list_means(const PlotCommand& plot) {
  const auto is_of_means = [&](const std::string& id) {
    const View& view = *find_view(id);
    return can_show_means(view) && is_over_list(view, plot.options);
  };
  if (plot.from_recipe || std::ranges::none_of(plot.views, is_of_means)) return;
  const ComparisonArguments& compared = plot.comparison;
  const EditArguments& edits = plot.prompt.edits;
  const char* option = !edits.empty()                                                 ? "--edit"
                       : edits.second_model                                           ? "--second-model"
                       : compared.second                                              ? "--second"
                       : compared.side != Side::run                                   ? "--show"
                       : plot.selection && plot.selection->query != Selection{}.query ? "--query"
                                                                                      : nullptr;
  if (option != nullptr)
    throw UsageError(
        std::string(option) +
        " does not apply to means over a list: they are of each prompt without edits, after its own "
        "position, and patched from its own second prompt, as its line says");
}

void check_plot(PlotCommand& plot) {
  plot.views = plot.choices;
  if (plot.views.empty())
    throw UsageError("plot needs a view, e.g. headscope plot heatmap; the views are " + list_of_views());
  take_list(plot);
  set_over(plot);
  complete_prompt(plot, plot.views);
  const auto needs_prompt = [&](const std::string& id) {
    return !is_over_list(*find_view(id), plot.options);
  };
  if (plot.over_list.empty() || std::ranges::all_of(plot.views, needs_prompt))
    require_prompt_or_attention(plot);
  plot.out = destination_of(plot, "heads.png", kPicturesOrNumbers);
  reject_recipe(plot);
  check_alignment(plot);
  check_list_means(plot);
  use_second(plot, views_named(plot.views));
  subtract_other_tokens(plot);
  check_given_options(plot);
  if (plot.out.format == FileFormat::csv && !plot.from_recipe) {
    reject_picture_options(plot, kNoPicture);
    refuse({{plot.svg_text, std::string("--svg-text ") + kNoPicture},
            {plot.no_caption, std::string("--no-caption ") + kNoPicture},
            {plot.no_title, std::string("--no-title ") + kNoPicture}});
  }
  refuse({{plot.svg_text && plot.out.format != FileFormat::svg && !plot.from_recipe,
           "--svg-text is for SVG files; those of other formats have their text in one form"}});
  set_for_target(plot);
  check_pixels(plot.picture, plot.out.format);
  if (plot.prompt.from == PromptArguments::From::nothing && !plot.model.patterns)
    plot.prompt.from = PromptArguments::From::text;  // an empty prompt: a view of a list needs none
}

/// Adds the options that `plot` and each of its views take.
void add_plot_options(CommandSyntax& command, PlotCommand& own) {
  command.computing();
  command.prompt(true);
  command.attention(true);
  command.comparison();
  command.selection();
  command.over();
  command.flag("mean", kMeanHelp, own.mean);
  command.picture();
  CommandSyntax figure = command.under(CommandSyntax::kPicture);
  figure.flag("svg-text", "keep text in SVG files as text instead of outlines", own.svg_text);
  figure.flag("no-caption", "omit the caption, which names model, prompt, layer and head", own.no_caption);
  figure.flag("no-title", "omit the title, for figures whose title is in the text around them", own.no_title);
  command.recipe(own.no_recipe);
  command.picture_out("png|svg|pdf|csv",
                      "the file: a picture, or its data (csv); {view} in its\nname becomes the view's, {n} "
                      "(with --prompts) the prompt's number from 1");
}

}  // namespace

Finish describe_plot(CommandSyntax& command) {
  const auto own = std::make_shared<PlotCommand>();
  add_plot_options(command, *own);
  command.footer(
      "headscope plot VIEW --help lists the options of a view. Several views may be given,\neach followed by "
      "its own options.");
  command.each_view([&](CommandSyntax& of_view, const View& view) {
    add_plot_options(of_view, *own);
    if (view.tokens.rank != nullptr) of_view.footer(kTokenGrammar);
  });
  return command.finish(own, check_plot, run_plot);
}

}  // namespace headscope::app
