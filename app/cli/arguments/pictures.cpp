#include <memory>

#include "app/cli/arguments/argument_values.h"
#include "app/cli/arguments/commands.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

using model::quote;

Destination picture_or_numbers(const Given& given, const char* example) {
  require_out(given, example);
  return destination_of(given, {FileFormat::png, FileFormat::svg, FileFormat::pdf, FileFormat::csv});
}

struct RecipeFlags {
  bool left_out = false;  ///< of the file
  bool given = false;     ///< which recipe_command takes, where it is given once
};

bool carries_recipe(const RecipeFlags& flags) {
  if (flags.given) throw WrongUse("--recipe takes one file");
  return !flags.left_out;
}

struct PlotFlags {
  bool svg_text = false;
  bool no_caption = false;
  RecipeFlags recipe;
};

void add_no_recipe(CommandSyntax& command, RecipeFlags& own) {
  command.flag("no-recipe", "leave out of the file what the figure was made of: its prompt, model, options",
               own.left_out);
}

void add_recipe_options(CommandSyntax& command, RecipeFlags& own) {
  command.option("recipe", "FILE",
                 "a figure that headscope made, or a session: the same picture again,\n"
                 "but for the options that are given",
                 [&own](const std::string&) { own.given = true; });
  add_no_recipe(command, own);
}

/// What `plot` and each of its views take.
void add_plot_options(CommandSyntax& command, PlotFlags& own) {
  command.computing();
  command.prompt(true);
  command.attention(true);
  command.comparison();
  command.selection();
  command.over();
  command.picture();
  command.heading(CommandSyntax::kPicture);
  command.flag("svg-text", "text in SVG files as text, not as outlines", own.svg_text);
  command.flag("no-caption", "without the line that names model, prompt, layer and head", own.no_caption);
  add_recipe_options(command, own.recipe);
  command.heading(CommandSyntax::kOwn);
  command.picture_out("png|svg|pdf|csv",
                      "the file: a picture, or its numbers; {view} in its\n"
                      "name is the view's, with --prompts {n} the prompt's number from 1");
  command.resume();
}

/// Makes views that can be about a list of prompts about it, but for those of which an option says otherwise.
void set_over(PlotCommand& plot) {
  if (plot.over.empty()) return;
  bool some = false;
  for (const std::string& id : plot.views) {
    const View& view = *find_view(id);
    if (view.over_list == nullptr) continue;
    some = true;
    if (plot.options.value(*view.over_list) == view.over_list->default_value)
      plot.options.set(*view.over_list, view.over_list_value);
  }
  if (!some) throw WrongUse("--over is of views that can be about many prompts: " + list_of_views_of_many());
}

PlotCommand finished(const PlotFlags& flags, const Given& given) {
  if (given.over.empty()) require_prompt_or_attention(given);
  if (given.choices.empty())
    throw WrongUse("plot needs a view, as in headscope plot heatmap; there are " + list_of_views());
  PlotCommand plot;
  plot.out = picture_or_numbers(given, "heads.png");
  plot.comparison = given.comparison;
  plot.over = given.over;
  plot.views = given.choices;
  plot.selection = given.selection;
  plot.options = given.view_options;
  set_over(plot);
  plot.picture = given.picture;
  plot.svg_text = flags.svg_text;
  plot.caption = !flags.no_caption;
  plot.recipe = carries_recipe(flags.recipe);
  check_pixels(plot.picture);
  plot = filled(std::move(plot), given);
  if (plot.prompt.from == PromptArguments::From::nothing && !plot.model.patterns)
    plot.prompt.from = PromptArguments::From::text;  // the empty one: what is over a list needs none
  return plot;
}

ShotCommand finished(ShotCommand shot, const Given& given) {
  if (given.model.patterns) require_prompt_or_attention(given);
  require_out(given, "window.png");
  shot.out = destination_of(given, {FileFormat::png, FileFormat::pdf});
  shot.comparison = given.comparison;
  shot.over = given.over;
  if (given.selected) shot.selection = given.selection;
  shot.tour = given.tour;
  shot.options = given.view_options;
  shot.picture.dark = given.picture.dark;
  shot.picture.font_size = given.picture.font_size;
  if (given.scale_given) shot.picture.scale = given.picture.scale;
  if (given.size_given) {
    if (given.picture.height == 0) throw WrongUse("--size fit is for plot; shot takes WIDTHxHEIGHT");
    shot.picture.width = given.picture.width;
    shot.picture.height = given.picture.height;
  }
  check_pixels(shot.picture);
  return filled(std::move(shot), given);
}

}  // namespace

Finish describe_sweep(CommandSyntax& command, Given& given) {
  const auto own = std::make_shared<SweepArguments>();
  command.reading();
  add_sweep_options(command.adding(), *own);
  command.picture();
  const auto recipe = std::make_shared<RecipeFlags>();
  command.heading(CommandSyntax::kPicture);
  add_no_recipe(command, *recipe);
  command.heading(CommandSyntax::kOwn);
  command.picture_out("png|svg|pdf|csv",
                      "a picture of it, or its numbers (default: a list, the\n"
                      "strongest first); with --prompts, {n} in its name is the prompt's number from 1");
  command.resume();
  return [own, recipe, &given] {
    require_prompt(given);
    if (given.prompt.resume && (given.out.empty() || given.json))
      throw WrongUse(
          "--resume leaves out prompts whose file is there: it needs --out, and goes without --json");
    SweepCommand sweep = sweep_command(*own, given.prompt.edits.second_model.has_value());
    if (!given.out.empty()) {
      sweep.out = picture_or_numbers(given, "sweep.png");
      check_pixels(given.picture);
    }
    if (given.out == "-" && given.json)
      throw WrongUse("standard output takes one of them: both --json and --out - were given");
    sweep.picture = given.picture;
    sweep.recipe = carries_recipe(*recipe);
    return filled(std::move(sweep), given);
  };
}

Finish describe_plot(CommandSyntax& command, Given& given) {
  const auto own = std::make_shared<PlotFlags>();
  add_plot_options(command, *own);
  command.footer(
      "headscope plot VIEW --help names the options of one view. Several views may be named;\n"
      "each one's own options follow its name.");
  for (const View& view : views()) {
    CommandSyntax of_view = command.choice(view.id, view.help);
    if (!given.may_name(view.id)) continue;
    add_plot_options(of_view, *own);
    of_view.heading("This view");
    for (const OptionSpec* option : view.options) of_view.view_option(*option);
  }
  return [own, &given] { return finished(*own, given); };
}

Finish describe_shot(CommandSyntax& command, Given& given) {
  const auto own = std::make_shared<ShotCommand>();
  const auto recipe = std::make_shared<RecipeFlags>();
  command.computing();
  command.prompt(false);
  command.attention(true);
  command.comparison();
  const auto into_tab = [](const char* option, std::string& id) {
    return [option, &id](const std::string& text) {
      require_view(text);
      if (find_view(text)->place != Place::tab)
        throw WrongUse("the view " + quote(text) + " has a place of its own in the window; " + option +
                       " takes " + list_of_tabs());
      id = text;
    };
  };
  command.option(
      "view", "VIEW",
      "the view in the middle: " + list_of_tabs() + " (default: " + std::string(view_at(Place::tab).id) + ")",
      into_tab("--view", own->view));
  command.option("beside", "VIEW", "another one beside it (default: none)",
                 into_tab("--beside", own->beside));
  command.selection();
  command.tour();
  command.over();
  command.picture();
  command.heading(CommandSyntax::kPicture);
  add_recipe_options(command, *recipe);
  command.heading(CommandSyntax::kOwn);
  command.picture_out("png|pdf", "the file; as PDF it holds the pixels");
  command.heading("Views");
  for (const OptionSpec* option : all_options()) command.view_option(*option);
  return [own, recipe, &given] {
    ShotCommand shot = finished(*own, given);
    if (shot.beside == shot.view)
      throw WrongUse("--beside takes another view than the one in the middle, " + shot.view);
    shot.recipe = carries_recipe(*recipe);
    return shot;
  };
}

}  // namespace headscope::app
