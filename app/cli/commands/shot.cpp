#include "app/cli/answer_file.h"
#include "app/cli/command_line.h"
#include "app/cli/engine.h"
#include "app/cli/recipes.h"
#include "app/run/sources/weights_hash.h"
#include "app/views/view.h"
#include "app/window/core.h"

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

void require_room(const Figure& figure, float font_size) {
  const WindowSize least = least_window(font_size);
  if (figure.width < least.width || figure.height < least.height)
    throw std::runtime_error("the window needs at least " + std::to_string(least.width) + "x" +
                             std::to_string(least.height) + " at this font size; --size is " +
                             std::to_string(figure.width) + "x" + std::to_string(figure.height));
}

/// The run that a settled window shows, with what is to be said of it.
void report_run(const Core& core, const Arguments& a, const Streams& streams) {
  const Snapshot& snapshot = core.snapshot();
  if (!snapshot.error.empty() || !snapshot.run)
    throw std::runtime_error(snapshot.error.empty() ? "The prompt could not be run." : snapshot.error);
  if (core.state().message.is_error) throw std::runtime_error(core.state().message.text);
  const PromptRun& run = *snapshot.run;
  for (const auto& model : {run.model, run.second_model})
    if (model) show_warnings(model->warnings, a.models.get(), streams.err);
  warn_about(run, "", streams.err);
  if (run.tokens.run_length < run.tokens.length())
    streams.err << "headscope: " << one_line(beyond_context(run.tokens, *run.model))
                << "; the tokens beyond are not run\n";
}

/// Draws the window once everything in it is computed; needs no display or OpenGL.
void write_shot(const CLI::App& app, Arguments& a, Format format, const Streams& streams) {
  const bool from_recipe = !a.recipe.empty();
  if (from_recipe) find_subject(a, a.recipe);
  CoreOptions options = window_options(a, streams);
  WindowOptions& window = options.window;
  window.recipe_file = a.recipe;
  if (from_recipe) window.edits = nullptr;  // the session has its own
  WeightHashes weights;
  if (!a.no_recipe || from_recipe)
    weights = {weights_hash(window.model), window.second.empty() ? "" : weights_hash(window.second)};
  if (from_recipe) require_weights(a, weights);
  require_room(a.figure, window.recipe.session.font_size);
  options.settings.session = window.recipe.session;
  if (options.tour && (!window.second.empty() || window.recipe.session.second))
    throw std::runtime_error("a stop of a tour shows its own second prompt, or no second prompt or model");
  MemoryScreen screen;
  options.screen = &screen;
  Core core(std::move(options));
  core.settle();
  report_run(core, a, streams);
  for (const SetOption& set : options_to_set(app, a)) core.apply(set);
  const WindowFrame frame{.width = static_cast<float>(a.figure.width),
                          .height = static_cast<float>(a.figure.height),
                          .device_scale = a.figure.how.scale,
                          .still = true};
  core.draw(frame);  // what is asked may depend on the room for it
  core.settle();
  for (const Question& question : core.window().asked)
    if (const auto known = core.snapshot().answers.find(question); known && known->lacked_memory)
      throw std::runtime_error(known->failure);
  Recipe recipe = core.session();
  recipe.figure = a.figure;
  recipe.session.weights = weights.model;
  if (!recipe.session.second_model.empty()) recipe.session.second_weights = weights.second;
  std::vector<viz::Note> notes;
  if (!a.no_recipe) notes.push_back(recipe_note(recipe));
  write_output(a.out, format,
               bitmap_bytes(format == Format::pdf ? FileFormat::pdf : FileFormat::png, core.picture(frame),
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
