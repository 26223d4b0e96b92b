#include "app/cli/arguments/command_syntax.h"
#include "app/cli/commands/engine.h"
#include "app/cli/commands/figure.h"
#include "app/cli/commands/recipes.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/weights_hash.h"
#include "app/views/option_names.h"
#include "model/files/quote.h"

namespace headscope::app {

namespace {

/// The options that were given, and what follows from them; a session or a tour has the others.
std::vector<SetOption> options_to_set(const ShotCommand& command, const LoadedModel& model) {
  Options options = command.options;
  set_tokens(options, command.tokens, model);
  std::vector<SetOption> sets;
  const auto set = [&](const OptionSpec* option) {
    if (option != nullptr) sets.push_back({option, options.value(*option)});
  };
  for (const View* view : views_in_window(command.view, command.second_view))
    if (const OptionSpec* option = view->with_second;
        option != nullptr && options.value(*option) == view->with_second_value)
      set(option);
  for (const GivenOption& given : command.given_options) set(given.option);
  // Means over a list that an edit sets are shown in the prompt's own run, as after `plot`.
  for (const View* view : views_in_window(command.view, command.second_view))
    if (sets_list_mean(*view, options) && view->over_list != nullptr && !is_given(command, view->over_list))
      sets.push_back({view->over_list, view->over_list->default_value});
  for (const ViewToken& token : command.tokens) {
    const TokenOptions& of = token.view->tokens;
    set(token.other ? of.other_rank : of.rank);
    set(token.other ? of.other_id : of.id);
    if (token.other) set(of.metric);
  }
  return sets;
}

void run_shot(const ShotCommand& command, const Streams& streams) {
  WindowOptions base = window_options(command, streams);
  base.selection = command.selection;
  if (command.session) {  // the session has its own edits
    base.session = Recipe{*command.session, {}};
    base.edits = nullptr;
  }
  const bool hashed = !command.no_recipe || !command.weights.empty();
  const WeightHashes weights{hashed ? weights_hash(base.model) : "",
                             hashed && !base.second_model.empty() ? weights_hash(base.second_model) : ""};
  if (!command.weights.empty())
    require_weights(command.weights, weights, command.model, model_name(base.model),
                    model_name(base.second_model));
  const ShotOptions shot{.base = std::move(base),
                         .view = command.view,
                         .second_view = command.second_view,
                         .options = [&](const LoadedModel& model) { return options_to_set(command, model); },
                         .width = command.picture.width,
                         .height = command.picture.height,
                         .scale = command.picture.scale,
                         .dark = command.picture.dark,
                         .font_size = command.picture.font_size,
                         .report_run =
                             [&](const PromptRun& run) {
                               for (const auto& model : {run.model, run.second_model})
                                 if (model) show_warnings(model->warnings, command.model, streams.err);
                               warn_about(run, "", streams.err);
                               if (run.tokens.run_length < run.tokens.length())
                                 streams.err
                                     << "headscope: " << one_line(beyond_context(run.tokens, *run.model))
                                     << "; the tokens beyond are not run\n";
                             }};
  Shot made = render_shot(shot);
  std::vector<viz::Note> notes;
  made.session.model.weights = weights.model;
  if (made.session.second_model) made.session.second_model->weights = weights.second;
  const Figure figure{
      .window = true, .width = shot.width, .height = shot.height, .page = Page::exact, .scale = shot.scale};
  if (!command.no_recipe) notes.push_back(recipe_note(Recipe{made.session, figure}));
  write_output(command.out, bitmap_bytes(command.out.format, made.bitmap, shot.scale, notes), streams);
}

void check_shot(ShotCommand& shot) {
  if (shot.model.patterns || !shot.comparison.second_attention.empty()) require_prompt_or_attention(shot);
  shot.out = destination_of(shot, "window.png", {FileFormat::png, FileFormat::pdf});
  if (!shot.scale_given) shot.picture.scale = 1;
  if (!shot.size_given) {
    shot.picture.width = 1600, shot.picture.height = 1000;
  } else if (shot.picture.height == 0) {
    throw UsageError("--size fit and --size WIDTH are for plot; shot takes WIDTHxHEIGHT");
  }
  check_pixels(shot.picture, FileFormat::png);
  if (shot.second_view == shot.view)
    throw UsageError("--beside takes a view other than the one in the middle, " + shot.view);
  reject_recipe(shot);
  check_alignment(shot);
  const std::vector<const View*> shown =
      shot.from_recipe ? shot.recipe_views : views_in_window(shot.view, shot.second_view);
  place_view_options(shot, shown);
  use_second(shot, shown);
  subtract_other_tokens(shot);
  if (shot.tour.name.empty()) check_given_options(shot);
}

bool is_tab(const View& view) {
  return view.place == Place::tab;
}

std::string tab_id(const std::string& option, const std::string& text) {
  if (!find_view(text))
    throw UsageError("unknown view " + model::quote(text) + "; expected one of " + list_of_views());
  if (!is_tab(*find_view(text)))
    throw UsageError("the view " + model::quote(text) + " is always in the window; " + option + " takes " +
                     list_of_views(is_tab));
  return text;
}

}  // namespace

Finish describe_shot(CommandSyntax& command) {
  const auto own = std::make_shared<ShotCommand>();
  command.computing();
  command.prompt(false);
  command.attention(true);
  command.comparison(false);
  command.option("view", "VIEW",
                 "the view in the middle: " + list_of_views(is_tab) +
                     " (default: " + std::string(view_at(Place::tab).id) + ")",
                 own->view, tab_id);
  command.option("beside", "VIEW", "a second view next to it (default: none)", own->second_view, tab_id);
  command.selection();
  command.tour();
  command.over();
  command.picture(true);
  command.recipe(own->no_recipe,
                 "; of a whole window only\nits size, scale, theme, font size and model can be changed");
  command.picture_out("png|pdf", "the file; a PDF holds the pixels");
  command.options_of_shown_views("Views");
  command.footer(kTokenGrammar);
  return command.finish(own, check_shot, run_shot);
}

}  // namespace headscope::app
