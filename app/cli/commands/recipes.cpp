#include "app/cli/commands/recipes.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/arguments/argument_values.h"
#include "app/cli/commands/engine.h"
#include "app/run/analyses/attribution.h"
#include "app/run/kept_models.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/pattern_file.h"
#include "app/run/sources/weights_hash.h"
#include "app/text/json_text.h"
#include "app/views/option_names.h"
#include "app/views/parts/names.h"
#include "app/views/view.h"
#include "model/files/error.h"
#include "model/files/quote.h"
#include "system/path_text.h"
#include "viz/text/text.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;

/// Like model_named, or else the model of that name in one of `places`, which are folders: of all these the
/// first with these weights (see weights_hash; empty: any), else the first. The name is never taken for a
/// path. Nothing if there is none. Reads whole files.
std::optional<fs::path> model_near(const std::string& name, const std::string& weights,
                                   const std::vector<DiscoveredModel>& models,
                                   const std::vector<fs::path>& places) {
  std::vector<fs::path> folders;
  if (auto known = model_named(name, models)) folders.push_back(*std::move(known));
  if (system::is_file_name(name))
    for (const fs::path& place : places)
      if (fs::path folder = place / system::path_of(name); is_gpt2(folder))
        folders.push_back(std::move(folder));
  for (const fs::path& folder : folders) try {
      if (weights.empty() || weights_hash(folder) == weights) return folder;
    } catch (const model::LoadError&) {  // it has been removed
    }
  return folders.empty() ? std::nullopt : std::optional(folders.front());
}

/// The figure to make; a default one if the file is a session or another kind of figure is wanted.
Figure figure_of(const RecipeCommand& command, const Recipe& recipe) {
  constexpr Figure kWindow{true, 1600, 1000, Page::exact, 1, true, false};
  if (recipe.figure && recipe.figure->window && !command.window) return *recipe.figure;
  if (command.window) return recipe.figure && recipe.figure->window ? *recipe.figure : kWindow;
  return recipe.figure.value_or(Figure{});
}

bool gives_prompt(std::span<const Word> words) {
  return has_option(words, "--prompt") || has_option(words, "--ids") || has_option(words, "--prompt-file") ||
         has_option(words, "--prompts");
}

/// Adds the parts of the recipe that have no option.
void add_rest(PlotCommand& plot, const Recipe& recipe, std::span<const Word> given) {
  plot.tries = recipe.session.tries;
  plot.no_caption |= !recipe.figure->caption;
  plot.no_title |= !recipe.figure->title;
  plot.svg_text |= recipe.figure->svg_text;
  if (recipe.session.prompts) plot.prompts = std::make_shared<const PromptList>(*recipe.session.prompts);
  if (recipe.figure->height > 0 && !has_option(given, "--size") && !has_option(given, "--for"))
    plot.picture.page = recipe.figure->page;
  for (const char* option : {"--layer", "--head", "--query", "--key"})
    if (!has_option(given, option)) plot.recipe_options.emplace_back(option);
}
void add_rest(ShotCommand& shot, const Recipe& recipe, std::span<const Word> given) {
  // The picture shows the window as the recipe has it.
  for (const char* option :
       {"--view", "--beside", "--over", "--prompt", "--ids", "--prompt-file", "--bos", "--no-bos", "--edit",
        "--edits", "--second", "--align", "--show", "--layer", "--head", "--query", "--key", "--tour"})
    if (has_option(given, option))
      throw model::RunError(
          "a picture of the whole window follows its recipe, except for its size, scale, theme, font size "
          "and model; use plot for the other options");
  shot.session = recipe.session;
  shot.session->look = {shot.picture.dark, shot.picture.font_size};
}

std::string lines_of(const Recipe& recipe) {
  const Session& s = recipe.session;
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += format("%-10s %s\n", name, value.c_str());
  };
  line("made by", "headscope " + viz::visible(recipe.program));
  line("model", viz::visible(s.model.name));
  line("attention", viz::visible(s.model.attention));
  line("weights", viz::visible(s.model.weights));
  if (s.second_model) {
    line("2nd model", viz::visible(s.second_model->name));
    line("2nd weights", viz::visible(s.second_model->weights));
  }
  const bool prompted = s.model.attention.empty();
  line("prompt", prompted && (s.prompt.ids.empty() || !s.prompt.text.empty())
                     ? "“" + viz::visible(s.prompt.text) + "”"
                     : "");
  std::string ids;
  for (const int id : s.prompt.ids) ids += (ids.empty() ? "" : ",") + std::to_string(id);
  line("ids", ids);
  for (const WrittenEdit& edit : s.edits) line("edit", viz::visible(edit.text) + (edit.on ? "" : "  (off)"));
  if (s.second)
    line("second", (s.second->attention.empty() ? "“" + viz::visible(s.second->text) + "”"
                                                : viz::visible(s.second->attention)) +
                       (s.second->on ? "" : "  (off)"));
  if (s.prompts)
    line("list",
         grouped(std::ssize(s.prompts->prompts)) + " prompts of “" + viz::visible(s.prompts->name) + "”");
  line("view",
       recipe.figure && recipe.figure->window
           ? "the whole window, with " + s.view + (s.second_view.empty() ? "" : " and " + s.second_view)
           : s.view);
  for (const WrittenOption& option : written_options(s.options, shown_views(recipe), false))
    line("option", option.name + " " + option.value);
  if (recipe.figure) line("command", command_of(recipe));
  return text;
}

/// The arguments of a recipe for a view, without those that the given words replace by another option, as
/// `--ids` replaces a prompt. Words with the same option override the argument in parsing.
Arguments arguments_from(const Recipe& recipe, const View& view, std::span<const Word> given) {
  const Session& s = recipe.session;
  const Figure& figure = recipe.figure.value();
  const bool gives_patterns = has_option(given, "--attention"), gives_model = has_option(given, "--model");
  const bool patterns = !s.model.attention.empty();
  Arguments a;
  a.from_recipe = true;
  a.model.precision = s.model.precision;
  if (patterns && !gives_model && !gives_patterns) a.model.model = s.model.attention, a.model.patterns = true;
  if (!patterns && !gives_patterns && !gives_prompt(given)) {
    const bool text = s.prompt.ids.empty();
    a.prompt.from = text ? PromptArguments::From::text : PromptArguments::From::ids;
    a.prompt.text = s.prompt.text;
    a.prompt.ids = s.prompt.ids;
  }
  a.prompt.start_token = s.prompt.start_token;
  if (!has_option(given, "--edits"))
    for (const WrittenEdit& edit : s.edits)
      if (edit.on) a.prompt.edits.texts.push_back(edit.text);
  if (s.second && s.second->on) {
    a.comparison.alignment = s.second->alignment;
    if (s.second->attention.empty()) {
      a.comparison.second = s.second->text;
    } else if (!gives_model) {
      a.comparison.second_attention = system::path_of(s.second->attention);
    }
  }
  const auto is_given = [&](const char* option) { return has_option(given, option); };
  constexpr std::array kBaselines{"--edit", "--edits", "--second", "--second-model", "--second-attention"};
  if (has_comparison(s) || std::ranges::any_of(kBaselines, is_given)) a.comparison.side = s.side;
  if (s.selection != Selection{}) a.selection = s.selection;
  a.options = figure.window ? s.options : options_of(view, s.options);
  a.recipe_views = shown_views(recipe);
  a.picture.rows = figure.rows;
  a.picture.dark = s.look.dark;
  if (has_option(given, "--for")) return a;  // another target chooses sizes of its own
  a.picture.target = figure.target;
  a.picture.scale = figure.scale;
  a.picture.font_size = s.look.font_size;
  a.scale_given = true;
  a.font_size_given = s.look.font_size != spec_of(figure.target).font_size;
  return a;
}

}  // namespace

Recipe recipe_of(const PlotCommand& command, const View& view, const PromptRun& run,
                 const PromptList* prompts, const WeightHashes& weights) {
  Session s;
  s.model = {run.model->name, weights.model, command.model.precision};
  if (run.second_model) s.second_model = {run.second_model->name, weights.second};
  if (run.model->patterns) s.model.attention = system::text_of(run.model->patterns->path().filename());
  s.model.adds_start_token = has_start_token(*run.model, std::nullopt);
  s.prompt = {run.prompt.text, run.prompt.ids, run.tokens.has_start_token};
  s.edits = written_edits(run.prompt.edits);
  if (command.comparison.second)
    s.second = Session::Second{*command.comparison.second, true, command.comparison.aligned_by()};
  if (const auto& second = command.comparison.second_attention; !second.empty())
    s.second = Session::Second{"", true, command.comparison.aligned_by(), system::text_of(second.filename()),
                               run.baseline ? weights_hash(*run.baseline->model) : ""};
  s.side = command.comparison.side;
  s.options = command.options;
  s.selection = command.selection.value_or(Selection{});
  s.tries = command.tries;
  if (prompts != nullptr) s.prompts = *prompts;
  s.look = {command.picture.dark, command.picture.font_size};
  return {figure_part(std::move(s), view),
          Figure{.window = false,
                 .width = command.picture.width,
                 .height = command.picture.height,
                 .page = command.picture.page,
                 .scale = command.out.format == FileFormat::png ? command.picture.scale
                                                                : figure_for(command.picture.target).scale,
                 .caption = !command.no_caption,
                 .svg_text = command.svg_text,
                 .rows = command.picture.rows,
                 .target = command.picture.target,
                 .title = !command.no_title}};
}

WeightHashes weights_of(const Engine& engine) {
  return {weights_hash(*engine.model), engine.second ? weights_hash(*engine.second) : std::string()};
}

void require_weights(const WeightHashes& wanted, const WeightHashes& found, const ModelArguments& model,
                     const std::string& name, const std::string& second_name) {
  const auto check = [](const std::string& expected, const std::string& there, const std::string& subject,
                        const char* takes) {
    if (expected.empty() || expected == there) return;
    throw model::RunError(subject + " has different weights from those the figure was made with: expected " +
                          model::quote(expected) + ", found " + model::quote(there) + "; " + takes +
                          " with any weights");
  };
  if (model.patterns) {
    check(wanted.model, found.model, "the file " + model::quote(*model.model), "--attention accepts a file");
  } else {
    check(wanted.model, found.model, "the model " + model::quote(name), "--model accepts a model");
  }
  check(wanted.second, found.second, "the second model " + model::quote(second_name),
        "--second-model accepts a model");
}

void find_subject(Session& session, const std::filesystem::path& file, ModelArguments& model,
                  std::filesystem::path& second_attention, std::optional<ModelArguments>& second_model) {
  const std::vector<std::filesystem::path> places{std::filesystem::absolute(file).parent_path(),
                                                  std::filesystem::current_path()};
  const auto found = [&](const std::string& name, const std::string& weights, const char* option) {
    if (auto there = attention_named(name, weights, places)) return *there;
    throw model::LoadError(system::text_of(file) + ": it was made from the attention patterns in " +
                           model::quote(name) +
                           ", found neither next to it nor in this folder; give the file with " + option);
  };
  if (!model.model) {
    model.patterns = !session.model.attention.empty();
    model.by_name = !model.patterns;
    model.model = model.patterns
                      ? system::text_of(found(session.model.attention, session.model.weights, "--attention"))
                      : session.model.name;
  }
  if (!model.patterns) {
    if (second_model) {
      session.second_model = Session::Model{*second_model->model, ""};
    } else if (session.second_model) {
      const Session::Model& wanted = *session.second_model;
      const auto cache = hugging_face_cache(process_environment());
      const auto models = cache ? discover_models(*cache) : std::vector<DiscoveredModel>{};
      const auto folder = model_near(wanted.name, wanted.weights, models, places);
      second_model = folder && folder != model_named(wanted.name, models)
                         ? ModelArguments{.model = system::text_of(*folder)}
                         : ModelArguments{.model = wanted.name, .by_name = true};
    }
    return;
  }
  std::optional<Session::Second>& second = session.second;
  if (!second_attention.empty()) {
    second = Session::Second{"", true, second ? second->alignment : Alignment::position,
                             system::text_of(second_attention.filename())};
  } else if (second && second->on && !second->attention.empty()) {
    second_attention = found(second->attention, second->weights, "--second-attention");
    if (!second->weights.empty() && weights_hash(second_attention) != second->weights)
      throw model::RunError(
          "the file " + model::quote(system::text_of(second_attention)) +
          " has different weights from the one the figure compared with; --second-attention accepts a "
          "file with any weights");
  }
}

namespace {

/// The command for a recipe in a file and the other given words.
ParsedCommand command_of_recipe(const RecipeCommand& command) {
  Recipe recipe = read_recipe(command.file);
  if (!recipe.unknown.empty())
    throw model::RunError(system::text_of(command.file) + ": it was made with the option " +
                          model::quote(recipe.unknown.front()) + " (by headscope " +
                          model::quote(recipe.program) + "), which this version does not have");
  recipe.figure = figure_of(command, recipe);
  if (recipe.figure->window && find_view(recipe.session.view)->place != Place::tab)
    recipe.session.view = view_at(Place::tab).id;  // the window shows that view in its own pane
  ParsedCommand made = command_from(recipe, command.words);
  const auto add = [&](auto& picture) {
    add_rest(picture, recipe, command.words);
    picture.model.kept = command.model.kept;
    const bool given = has_option(command.words, "--model") || has_option(command.words, "--attention");
    if (!given) picture.model.model.reset();
    if (!has_option(command.words, "--second-attention")) picture.comparison.second_attention.clear();
    const bool second_given = has_option(command.words, "--second-model");
    auto& second_model = picture.prompt.edits.second_model;
    find_subject(recipe.session, command.file, picture.model, picture.comparison.second_attention,
                 second_model);
    if (picture.model.patterns) recipe.session.second_model.reset();
    if (!second_given && recipe.session.second_model)
      picture.weights.second = recipe.session.second_model->weights;
    if constexpr (requires { picture.session; }) {
      picture.session->second = recipe.session.second;
      picture.session->second_model = recipe.session.second_model;
    }
    if (!given) picture.weights.model = recipe.session.model.weights;
  };
  if (auto* plot = command_arguments<PlotCommand>(made)) add(*plot);
  if (auto* shot = command_arguments<ShotCommand>(made)) add(*shot);
  return made;
}

}  // namespace

std::optional<ParsedCommand> recipe_command(const std::vector<std::string>& arguments,
                                            const Arguments& start) {
  if (std::ranges::none_of(arguments, [](const std::string& text) { return text.starts_with("--recipe"); }))
    return std::nullopt;
  std::vector<Word> words;
  try {
    words = words_of(arguments);
  } catch (const UsageError&) {
    return std::nullopt;  // the parser reports it
  }
  const auto own = std::make_shared<RecipeCommand>();
  RecipeCommand& command = *own;
  command.model.kept = start.model.kept;
  std::string name;
  int recipes = 0;
  for (const Word& word : words) {
    if (word.option == "--help" || word.option == "-h") return std::nullopt;
    if (word.option == "--recipe") {
      if (word.value.empty()) return std::nullopt;
      command.file = system::path_of(word.value);
      ++recipes;
    } else if (name.empty() && word.option.empty()) {
      name = word.value;
    } else {
      command.words.push_back(word);
    }
  }
  if (recipes != 1 || (name != "plot" && name != "shot")) return std::nullopt;
  command.window = name == "shot";
  return Task{name, own, false,
              [own](const Streams& streams) { return run(command_of_recipe(*own), streams); }};
}

ParsedCommand command_from(Recipe recipe, std::span<const Word> given) {
  const auto named = std::ranges::find_if(
      given, [](const Word& word) { return word.option.empty() && find_view(word.value) != nullptr; });
  if (named != given.end()) {
    recipe.session.view = named->value;
    if (recipe.figure.value().window) recipe.figure = Figure{};
  }
  std::vector<std::string> words{"shot"};
  const Figure& figure = recipe.figure.value();
  if (!figure.window) words = {"plot", recipe.session.view};
  if (const std::string size = size_words(figure);
      !size.empty() && !has_option(given, "--size") && !has_option(given, "--for"))
    words.push_back("--size=" + size);  // checked as one that is given
  for (const Word& word : given)
    if (named == given.end() || &word != &*named)
      words.insert(words.end(), word.arguments.begin(), word.arguments.end());
  return parse_command_line(words, arguments_from(recipe, *find_view(recipe.session.view), given));
}

void write_recipe(const std::filesystem::path& file, bool json, std::ostream& out) {
  const Recipe recipe = read_recipe(file);
  if (!json) {
    out << lines_of(recipe);
    return;
  }
  auto object = nlohmann::ordered_json::parse(to_json(recipe));
  object["program"] = utf8_or_replacement(recipe.program);
  out << json_line(object) << '\n';
}

}  // namespace headscope::app
