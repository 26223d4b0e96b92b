#include "app/cli/answer_file.h"
#include "app/cli/command_line.h"
#include "app/cli/engine.h"
#include "app/cli/recipes.h"
#include "app/run/sources/weights_hash.h"
#include "app/views/view.h"

namespace headscope::app {
namespace {

bool is_tab(const View& view) {
  return view.place == Place::tab;
}

/// The options that were given; a session or a tour has the others.
std::vector<SetOption> options_to_set(const CLI::App& app, const Arguments& a) {
  std::vector<SetOption> sets;
  for (const OptionSpec* option : all_options())
    if (is_given(app, "--" + std::string(option->name)))
      sets.push_back({option, a.session.options.value(*option)});
  for (const View* view : views_in_window(a.session.view, a.session.second_view))
    if (view->with_second.option != nullptr && (is_given(app, "--second") || a.second_model) &&
        a.session.side == Side::run && !is_given(app, "--" + std::string(view->with_second.option->name)))
      sets.push_back({view->with_second.option, view->with_second.value});
  return sets;
}

void write_shot(const CLI::App& app, Arguments& a, Format format, const Streams& streams) {
  const bool from_recipe = !a.recipe.empty();
  if (from_recipe) find_subject(a, a.recipe);
  WindowOptions base = window_options(a, streams);
  base.opens_recipe = from_recipe;
  if (from_recipe) base.edits = nullptr;  // the session has its own
  WeightHashes weights;
  if (!a.no_recipe || from_recipe)
    weights = {weights_hash(base.model), base.second.empty() ? "" : weights_hash(base.second)};
  if (from_recipe) require_weights(a, weights);
  const ShotOptions shot{.base = std::move(base),
                         .options = options_to_set(app, a),
                         .figure = a.figure,
                         .report_run = [&](const PromptRun& run) {
                           for (const auto& model : {run.model, run.second_model})
                             if (model) show_warnings(model->warnings, a.models.get(), streams.err);
                           warn_about(run, "", streams.err);
                           if (run.tokens.run_length < run.tokens.length())
                             streams.err << "headscope: " << one_line(beyond_context(run.tokens, *run.model))
                                         << "; the tokens beyond are not run\n";
                         }};
  Shot made = render_shot(shot);
  std::vector<viz::Note> notes;
  made.session.weights = weights.model;
  if (!made.session.second_model.empty()) made.session.second_weights = weights.second;
  if (!a.no_recipe) notes.push_back(recipe_note(Recipe{made.session, a.figure}));
  write_output(a.out, format,
               bitmap_bytes(format == Format::pdf ? FileFormat::pdf : FileFormat::png, made.bitmap,
                            a.figure.how.scale, notes),
               streams);
}

void check_shot(const CLI::App& app, const Arguments& a) {
  if (a.model.patterns || !a.second_attention.empty()) require_prompt(a, true);
  refuse({{a.out.empty(), "--out is missing, e.g. --out window.png"},
          {a.session.second_view == a.session.view,
           "--beside takes a view other than the one in the middle, " + a.session.view},
          {is_given(app, "--align") && !is_given(app, "--second") && a.second_attention.empty(),
           "--align requires --second"},
          {!a.tour.empty() && a.session.side != Side::run,
           "each stop of a tour chooses what is shown: --tour and --show do not go together"}});
  const auto shown = views_in_window(a.session.view, a.session.second_view);
  const auto has = [&](const OptionSpec* option) {
    return std::ranges::any_of(
        shown, [&](const View* view) { return std::ranges::count(view->options, option) > 0; });
  };
  for (const OptionSpec* option : all_options()) {
    const std::string name = "--" + std::string(option->name);
    if (!is_given(app, name)) continue;
    if (!a.recipe.empty())
      throw UsageError("a picture of the whole window follows its recipe: " + name +
                       " is for the view's own command");
    if (a.tour.empty() && !has(option)) throw UsageError(name + " is an option of a view that is not shown");
  }
  if (a.recipe.empty()) return;
  for (const char* option :
       {"--view", "--beside", "--over", "--prompt", "--ids", "--prompt-file", "--bos", "--no-bos", "--edit",
        "--edits", "--second", "--align", "--show", "--layer", "--head", "--query", "--key", "--tour"})
    if (is_given(app, option))
      throw UsageError(
          "a picture of the whole window follows its recipe, except for its size, scale, theme, font size "
          "and model; " +
          std::string(option) + " is for the view's own command");
}

}  // namespace

Run describe_shot(CLI::App& app, const std::shared_ptr<Arguments>& a) {
  a->figure = figure_for(Target::screen, true);
  add_computing(app, *a);
  add_attention(app, *a);
  add_prompt(app, *a, false);
  add_edits(app, *a, false);
  add_comparison(app, *a);
  std::vector<std::string> tabs;
  for (const View& view : views())
    if (is_tab(view)) tabs.emplace_back(view.id);
  app.add_option("--view", a->session.view,
                 "the view in the middle: " + list_of_views(is_tab) +
                     "\n(default: " + std::string(view_at(Place::tab).id) + ")")
      ->type_name("VIEW")
      ->check(CLI::IsMember(tabs).description(""));
  app.add_option("--beside", a->session.second_view, "a second view next to it (default: none)")
      ->type_name("VIEW")
      ->check(CLI::IsMember(tabs).description(""));
  add_selection(app, *a);
  add_tour(app, *a);
  add_over(app, *a);
  add_picture(app, *a, true);
  add_out(app, *a, "png|pdf", "the file; a PDF holds the pixels");
  for (const OptionSpec* option : all_options())
    if (!option->pane_only) add_view_option(app, *a, *option, std::string(option->name), "");
  add_footer(app, "Options of views have the names that headscope views --json lists as \"name\".");
  return [&app, a](const Streams& streams) {
    const Format format = format_of(app, *a, "png|pdf");
    check_shot(app, *a);
    complete_figure(app, *a, Format::png);
    write_shot(app, *a, format, streams);
    return 0;
  };
}

}  // namespace headscope::app
