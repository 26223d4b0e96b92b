#include "app/recipe/recipe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "app/ascii.h"
#include "app/recipe/fields.h"
#include "app/run/edits/edit_text.h"
#include "app/run/sources/paths.h"
#include "app/run/sources/weights_hash.h"
#include "app/views/parts/names.h"
#include "app/views/view.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"

namespace headscope::app {

// The probabilities are those of the last ids; null is not a number.
static void to_json(nlohmann::json& json, const TriedText& tried) {
  json = {{"ids", tried.ids}, {"probabilities", tried.probabilities}};
}
static void from_json(const nlohmann::json& json, TriedText& tried) {
  tried.ids = value_of<std::vector<int>>(json.at("ids"));
  for (const auto& share : json.at("probabilities"))
    tried.probabilities.push_back(share.is_null() ? std::nan("") : share.get<double>());
  if (tried.start() < 0 || std::ranges::any_of(tried.ids, [](int id) { return id < 0; }) ||
      std::ranges::any_of(tried.probabilities, [](double share) { return share < 0 || share > 1; }))
    throw std::invalid_argument("no continuation");
}

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kVersion = 4;
constexpr Named<bool> kFigures[]{{"view", false}, {"window", true}};
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 28;

constexpr const char* kFile = "the name of a file, without a folder";
constexpr const char* kHash = "\"sha256:\" and 64 hexadecimal digits";

/// What the command line does not say, or as a path.
void describe_rest(Fields& form, Session& s) {
  form.field("model", s.model);
  form.field("weights", s.weights, kHash, is_weights_hash);
  form.field("second-model", s.second_model);
  form.field("second-weights", s.second_weights, kHash, is_weights_hash);
  form.field("second-on", s.second_on);
  form.field("tries", s.tries, "a list of ids and their probabilities",
             [](const Tries& tries) { return tries.size() <= kMaxTries; });
  std::string list = s.prompts ? s.prompts->name : "", lines = s.prompts ? s.prompts->lines : "";
  form.field("over", list);
  form.field("over-lines", lines, "the lines of a list of prompts", [&](const std::string& found) {
    s.prompts = parse_prompt_list(found, system::path_of(list));
    return true;
  });
  form.number("heads-pane", s.panes.heads, 0.F, kWidestPane);
  form.number("next-pane", s.panes.next, 0.F, kWidestPane);
  form.number("beside-pane", s.panes.second_view, 0.F, kWidestPane);
}

/// What the command line says.
void describe_options(Fields& form, Recipe& recipe) {
  constexpr int kMaxIndex = 1 << 24;
  Session& s = recipe.session;
  const View* const view = recipe.figure && !recipe.figure->window ? find_view(s.view) : nullptr;
  if (view == nullptr) form.field("beside", s.second_view, "a known view", find_view);
  form.name("precision", s.precision, kPrecisionNames);
  form.field("attention", s.attention, kFile, system::is_file_name);
  form.field("prompt", s.prompt.text);
  form.field("ids", s.prompt.ids, "a list of token ids");
  bool added = s.prompt.start_token.value_or(s.adds_start_token);
  s.adds_start_token &= !added;
  form.field("bos", added);
  form.field("no-bos", s.adds_start_token);
  s.prompt.start_token = added;
  form.field("edit", s.edits, "a list of at most " + std::to_string(kMaxEdits) + " texts",
             [](const auto& edits) { return edits.size() <= kMaxEdits; });
  form.field("second", s.second, "a text");
  form.field("second-attention", s.second_attention, kFile, system::is_file_name);
  form.name("align", s.alignment, kAlignmentNames);
  form.name("show", s.side, kSideNames);
  form.number("layer", s.selection.layer, 0, kMaxIndex);
  form.number("head", s.selection.head, 0, kMaxIndex);
  form.number("query", s.selection.query, -1, kMaxIndex);
  form.number("key", s.selection.key, -1, kMaxIndex);
  for (const OptionSpec* option : view != nullptr ? std::span(view->options) : all_options()) {
    if (option->pane_only) continue;
    std::string text = to_text(*option, s.options.value(*option));
    form.field(std::string(view != nullptr ? option->flag_name() : option->name), text, values_of(*option),
               [&](const std::string& found) {
                 s.options.set(*option, parse_option(*option, found));
                 return true;
               });
  }
  form.name("theme", s.dark, kThemeNames);
  form.number("font-size", s.font_size, 6.F, 72.F);
  if (!recipe.figure) return;
  Figure& figure = *recipe.figure;
  std::string size = size_text(figure);
  form.field("size", size, "a size, e.g. 1000x700",
             [&](const std::string& found) { return set_size(figure, found); });
  form.number("scale", figure.how.scale, 0.25F, 16.F);
  if (view == nullptr) return;
  form.name("for", figure.how.target, kTargetNames);
  form.number("rows", figure.rows, 0, std::numeric_limits<int>::max());
  bool no_title = !figure.how.title, no_caption = !figure.how.caption;
  form.field("no-title", no_title), form.field("no-caption", no_caption);
  figure.how.title = !no_title, figure.how.caption = !no_caption;
  form.field("svg-text", figure.how.svg_text);
}

void describe_settings(Fields& form, Settings& s) {
  constexpr int kSmallestWindow = 320, kLargestWindow = 16384;
  constexpr const char* kPaths = "a short list of paths";
  Recipe recipe{std::move(s.session), {}};
  form.field("view", recipe.session.view, "a known view", find_view);
  describe_options(form, recipe);
  describe_rest(form, recipe.session);
  s.session = std::move(recipe.session);
  form.field("has-prompt", s.has_prompt);
  form.number("window-width", s.window_width, kSmallestWindow, kLargestWindow);
  form.number("window-height", s.window_height, kSmallestWindow, kLargestWindow);
  form.field("last-model", s.last_model, "a path");
  form.field("export-folder", s.export_folder, "a path");
  const auto are_few = [](const auto& paths) { return paths.size() <= kMaxRecent; };
  form.field("recent-models", s.recent_models, kPaths, are_few);
  form.field("recent-folders", s.recent_folders, kPaths, are_few);
  form.field("recent-sessions", s.recent_sessions, kPaths, are_few);
  form.number("export-scale", s.export_scale, 1, kMaxExportScale);
  form.field("offer-models", s.offer_models);
  form.field("all-controls", s.all_controls);
  form.field("finished-tours", s.finished_tours);
  form.field("start-token", s.start_token);
}

/// What a command makes of no options, or a new session.
Recipe without_options(const std::string& view, const std::optional<Figure>& figure) {
  Recipe recipe;
  recipe.session.view = view;
  if (figure) recipe.figure = figure_for(figure->how.target, figure->window);
  if (figure) recipe.session.font_size = spec_of(figure->how.target).font_size;
  return recipe;
}

/// Without the edits and the second prompt or file that are switched off.
Session without_disabled_edits(Session s) {
  std::erase_if(s.edits, [](const std::string& edit) { return edit.starts_with(kOff); });
  if (s.second_on) return s;
  s.second.reset();
  if (!std::exchange(s.second_attention, {}).empty()) s.second_weights.clear();
  s.alignment = {}, s.second_on = true;
  return s;
}

/// The options of the command line that are not as a command has them by itself.
nlohmann::ordered_json options_of(const Recipe& recipe) {
  Recipe without = without_options(recipe.session.view, recipe.figure);
  if (without.figure) without.figure->how.target = Target::screen;
  return changed_fields(recipe, without, describe_options);
}

/// Quotes a word for bash and zsh, with $'...' if it has bytes that a terminal does not show.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+@%";
  if (!word.empty() && word.front() != '=' && word.find_first_not_of(kPlain) == word.npos) return word;
  std::string quoted;
  for (const unsigned char c : word)
    if (c < 0x20 || c >= 0x7f)
      quoted += "\\x" + hex(c);
    else
      quoted.append(c == '\'' || c == '\\' ? "\\" : "") += static_cast<char>(c);
  return (quoted == word ? "'" : "$'") + quoted + "'";
}

}  // namespace

std::string to_json(const Recipe& recipe) {
  const std::optional<Figure>& figure = recipe.figure;
  nlohmann::ordered_json fields{{"program", version()}, {"version", kVersion}};
  if (figure) fields["figure"] = name_of(kFigures, figure->window), fields["command"] = command_of(recipe);
  fields["view"] = recipe.session.view;
  fields.update(options_of(recipe));
  fields.update(changed_fields(recipe.session, Session{}, describe_rest));
  return fields.dump(figure ? -1 : 1, ' ', true) + (figure ? "" : "\n");
}

Recipe recipe_of(std::string_view bytes, const std::string& file) {
  std::optional<std::string> text(bytes);
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start == bytes.npos || bytes[start] != '{') try {
      text = viz::find_note(bytes, kRecipeNote);
    } catch (const std::runtime_error& e) {
      throw model::LoadError(file + ": " + e.what());
    }
  Fields form{text ? model::parse_json(*text, file) : json()};
  if (!form.unread->is_object() || !form.unread->contains("version"))
    model::reject(file, "a session, or a picture with a headscope recipe", "none");
  std::string program, view = Session().view;
  int format = 0;
  form.number("version", format, 0, std::numeric_limits<int>::max());
  form.field("program", program);
  if (format != kVersion)
    throw model::LoadError(file + ": it was written by another version of headscope (" +
                           model::quote(program) + ", format " + std::to_string(format) +
                           "); this one reads format " + std::to_string(kVersion));
  // These decide which other options there are, and their defaults.
  form.field("view", view, "a known view", find_view);
  std::optional<Figure> figure;
  if (form.unread->contains("figure")) form.name("figure", figure.emplace().window, kFigures);
  if (figure && !figure->window) form.name("for", figure->how.target, kTargetNames);
  Recipe recipe = without_options(view, figure);
  recipe.program = program;
  describe_options(form, recipe);
  describe_rest(form, recipe.session);
  for (const auto& [key, expected, found] : form.problems)
    model::reject_value(file, key + " to be " + expected, found);
  if (Session& s = recipe.session; !s.attention.empty()) s.second.reset(), s.second_model.clear();
  for (const auto& [key, value] : form.unread->items())
    if (key != "command") recipe.unknown.push_back(key);  // that one is for people
  return recipe;
}

Recipe read_recipe(const fs::path& file) {
  return recipe_of(model::read_file(file, kMaxFileBytes), system::text_of(file));
}

viz::Note recipe_note(const Recipe& recipe) {
  return {std::string(kRecipeNote), to_json(recipe)};
}

std::vector<std::string> arguments_of(const Recipe& recipe) {
  const bool window = recipe.figure && recipe.figure->window;
  const Options& options = recipe.session.options;
  Recipe found{without_disabled_edits(recipe.session), recipe.figure};
  Session& s = found.session;
  const bool has_second = s.second || !s.second_attention.empty() || !s.second_model.empty();
  if (!has_second && s.edits.empty()) s.side = Side::run;
  if (!s.prompt.ids.empty()) s.prompt.text.clear();
  const auto shown = window ? views_in_window(s.view, s.second_view) : std::vector{find_view(s.view)};
  s.options = {};
  for (const OptionSpec* option : chosen_options(shown, options))
    s.options.set(*option, options.value(*option));

  nlohmann::ordered_json all;
  if (window) all["view"] = s.view;
  if (s.prompt.ids.empty() && s.attention.empty()) all["prompt"] = "";
  all.update(options_of(found));
  // A second prompt or a list would choose another value than the default, which is said, too.
  for (const View* one : shown)
    for (const OptionSpec* option :
         {has_second ? one->with_second.option : nullptr, s.prompts ? one->over_list.option : nullptr})
      if (option != nullptr && has_effect(*one, *option, options))
        all[std::string(window ? option->name : option->flag_name())] =
            to_text(*option, s.options.value(*option));

  std::vector<std::string> words{window ? "shot" : s.view};
  for (const auto& [option, value] : all.items())
    for (const nlohmann::json one : option == "edit" ? value : nlohmann::ordered_json::array({value})) {
      words.push_back("--" + option);
      if (one.is_boolean()) continue;
      const std::string text = option == "ids"         ? one.dump().substr(1, one.dump().size() - 2)
                               : one.is_number_float() ? plain(one.get<float>())
                                                       : bytes_from_json(one).value_or(one.dump());
      if (text.starts_with('-'))  // would look like an option
        words.back() += "=" + text;
      else
        words.push_back(text);
    }
  return words;
}

std::string command_of(const Recipe& recipe) {
  const Session& s = recipe.session;
  std::string line = "headscope";
  const std::vector<std::string> words = arguments_of(recipe);
  const auto has_zero = [](const std::string& word) { return word.find('\0') != std::string_view::npos; };
  if (std::ranges::any_of(words, has_zero))  // which no argument can have
    line += " " + words.front() + " --recipe THIS_FILE";
  else
    for (const std::string& word : words) line += " " + shell_word(word);
  if (s.prompts) line += " --over LIST_OF_PROMPTS";
  const auto say_model = [&](const char* option, const std::string& name) {
    const bool is_found = name == kBundledModel || name.find('/') != name.npos;
    line += option + std::string(is_found ? "" : "FOLDER_OF_") + shell_word(name);
  };
  if (!s.second_model.empty()) say_model(" --second-model ", s.second_model);
  if (s.attention.empty() && s.model != kBundledModel) say_model(" --model ", s.model);
  return line;
}

Session figure_part(Session s, const View& view) {
  s = without_disabled_edits(std::move(s));
  s.view = view.id;
  s.second_view.clear();
  s.panes = {};
  if (s.side == Side::difference && !view.shows_difference) s.side = Side::run;
  s.options = options_of(view, s.options);
  if (!view.reads_tries) s.tries.clear();
  if (!view.needs_list(s.options)) s.prompts.reset();
  return s;
}

std::string to_json(const Settings& settings) {
  return changed_fields(settings, Settings{}, describe_settings).dump(2) + "\n";
}

Settings parse_settings(std::string_view text, const std::string& file) {
  Settings settings;
  Fields form{model::parse_json(text, file)};
  if (!form.unread->is_object()) model::reject_value(file, "a JSON object", *form.unread);
  describe_settings(form, settings);
  for (const auto& [key, expected, found] : form.problems)
    settings.problem
        .append(settings.problem.empty() ? file + ": invalid values were replaced by defaults: " : ", ")
        .append(key);
  return settings;
}

Settings load_settings(const fs::path& file) try {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(file, ignored))) return {};
  return parse_settings(model::read_file(file, kMaxFileBytes), system::text_of(file));
} catch (const std::exception& error) {
  Settings defaults;
  defaults.problem = std::string(error.what()) + "; the default settings are used";
  return defaults;
}

}  // namespace headscope::app
