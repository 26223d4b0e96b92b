#include "app/recipe/recipe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <ranges>
#include <span>
#include <stdexcept>

#include "app/recipe/fields.h"
#include "app/run/edits/edit_text.h"
#include "app/run/sources/paths.h"
#include "app/run/sources/weights_hash.h"
#include "app/views/chosen_options.h"
#include "app/views/figure_size.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "model/files/quote.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kVersion = 4;
constexpr Named<bool> kFigures[]{{"view", false}, {"window", true}};
constexpr std::size_t kMaxSettingsBytes = 16 * Prompt::kMaxBytes;  // each may be a number on its line
constexpr const char* kRecipe = "a session, or a picture with a headscope recipe";

bool is_view(const std::string& id) {
  return find_view(id) != nullptr;
}

/// Attention files are named, never placed.
constexpr const char* kFile = "the name of a file, without a folder";

void describe_hash(Fields& form, std::string key, std::string& hash) {
  form.field(key, hash, "\"sha256:\" and 64 hexadecimal digits", is_weights_hash);
}

void describe_paths(Fields& form, const char* key, std::vector<fs::path>& paths) {
  std::vector<std::string> texts;
  for (const fs::path& path : paths) texts.push_back(system::text_of(path));
  form.field(key, texts, "a list of paths");
  paths.clear();
  for (const std::string& text : texts | std::views::reverse) remember(paths, system::path_of(text));
}

/// Each as its text, after "off: " if it is switched off.
void describe_edits(Fields& form, std::vector<WrittenEdit>& edits) {
  constexpr std::string_view kOff = "off: ";
  std::vector<std::string> texts;
  for (const WrittenEdit& edit : edits) texts.push_back((edit.on ? "" : std::string(kOff)) + edit.text);
  form.field("edit", texts, "a list of at most " + std::to_string(kMaxEdits) + " texts",
             [](const auto& found) { return found.size() <= kMaxEdits; });
  edits.clear();
  for (const std::string& text : texts)
    edits.push_back(text.starts_with(kOff) ? WrittenEdit{text.substr(kOff.size()), false}
                                           : WrittenEdit{text});
}

void describe_tries(Fields& form, Tries& tries) {
  json all = json::array();
  for (const TriedText& tried : tries)
    all.push_back(
        {{"ids", tried.ids}, {"probabilities", tried.probabilities}});  // of the last ids; NaN: null
  form.field("tries", all, "a list of ids and their probabilities", [&](const json& found) {
    Tries read;
    for (const json& one : found) {
      TriedText& tried = read.emplace_back();
      for (const json& id : one.at("ids")) tried.ids.push_back(id.is_number_integer() ? id.get<int>() : -1);
      for (const json& share : one.at("probabilities"))
        tried.probabilities.push_back(share.is_null() ? std::nan("") : share.get<double>());
      tried.start = static_cast<int>(tried.ids.size()) - static_cast<int>(tried.probabilities.size());
      if (tried.start < 0 || std::ranges::any_of(tried.ids, [](int id) { return id < 0; }) ||
          std::ranges::any_of(tried.probabilities, [](double share) { return share < 0 || share > 1; }))
        return false;
    }
    tries = std::move(read);
    return tries.size() <= kMaxTries;
  });
}

/// The second prompt or attention file, with how its tokens are matched.
void describe_second(Fields& form, Session& s) {
  if (s.model.attention.empty())
    form.part("second", s.second, &Session::Second::text, "a text", [](const auto&) { return true; });
  else
    form.part("second-attention", s.second, &Session::Second::attention, kFile, system::is_file_name);
  Alignment alignment = s.second.value_or(Session::Second{}).alignment;
  form.name("align", alignment, kAlignmentNames);
  if (s.second) s.second->alignment = alignment;
}

void describe_list(Fields& form, std::optional<PromptList>& list) {
  std::string name = list ? list->name : "", lines = list ? list->lines : "";
  form.field("over", name);
  form.field("over-lines", lines, "the lines of a list of prompts", [&](const std::string& found) {
    list = parse_prompt_list(found, system::path_of(name));
    return true;
  });
}

/// What the command line does not say, or as a path.
void describe_rest(Fields& form, Session& s) {
  form.field("model", s.model.name);
  describe_hash(form, "weights", s.model.weights);
  if (s.model.attention.empty())
    form.part("second-model", s.second_model, &Session::Model::name, "a model's name",
              [](const std::string& name) { return !name.empty(); });
  std::string none;
  bool on = s.second.value_or(Session::Second{}).on;
  describe_hash(form, "second-weights",
                s.second_model ? s.second_model->weights
                : s.second     ? s.second->weights
                               : none);
  form.field("second-on", on);
  if (s.second) s.second->on = on;
  describe_tries(form, s.tries);
  describe_list(form, s.prompts);
  form.number("heads-pane", s.panes.heads, 0.F, kWidestPane);
  form.number("next-pane", s.panes.next, 0.F, kWidestPane);
  form.number("beside-pane", s.panes.second_view, 0.F, kWidestPane);
}

/// What the command line says.
void describe_options(Fields& form, Recipe& recipe) {
  constexpr int kMaxIndex = 1 << 24;
  Session& s = recipe.session;
  const View* const view = recipe.figure && !recipe.figure->window ? find_view(s.view) : nullptr;
  if (view == nullptr) form.field("beside", s.second_view, "a known view", is_view);
  form.name("precision", s.model.precision, kPrecisionNames);
  form.field("attention", s.model.attention, kFile, system::is_file_name);
  form.field("prompt", s.prompt.text);
  form.field("ids", s.prompt.ids, "a list of token ids");
  bool added = s.prompt.start_token.value_or(s.model.adds_start_token);
  s.model.adds_start_token &= !added;
  form.field("bos", added);
  form.field("no-bos", s.model.adds_start_token);
  s.prompt.start_token = added;
  describe_edits(form, s.edits);
  describe_second(form, s);
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
  form.name("theme", s.look.dark, kThemeNames);
  form.number("font-size", s.look.font_size, 6.F, 72.F);
  if (!recipe.figure) return;
  Figure& figure = *recipe.figure;
  std::string size = size_text(figure);
  form.field("size", size, "a size, e.g. 1000x700",
             [&](const std::string& found) { return set_size(figure, found); });
  form.number("scale", figure.scale, 0.25F, 16.F);
  if (view == nullptr) return;
  form.name("for", figure.target, kTargetNames);
  form.number("rows", figure.rows, 0, kMaxRows);
  for (const auto& [key, part] : {std::pair("no-title", &figure.title), {"no-caption", &figure.caption}}) {
    bool left_out = !*part;
    form.field(key, left_out);
    *part = !left_out;
  }
  form.field("svg-text", figure.svg_text);
}

void describe_settings(Fields& form, Settings& s) {
  constexpr int kSmallestWindow = 320, kLargestWindow = 16384;
  Recipe recipe{std::move(s.session), {}};
  form.field("view", recipe.session.view, "a known view", is_view);
  describe_options(form, recipe);
  describe_rest(form, recipe.session);
  s.session = std::move(recipe.session);
  form.field("has-prompt", s.has_prompt);
  form.number("window-width", s.window_width, kSmallestWindow, kLargestWindow);
  form.number("window-height", s.window_height, kSmallestWindow, kLargestWindow);
  for (const auto& [key, path] :
       {std::pair("last-model", &s.last_model), {"export-folder", &s.export_folder}}) {
    std::string text = system::text_of(*path);
    form.field(key, text);
    *path = system::path_of(text);
  }
  describe_paths(form, "recent-models", s.recent_models);
  describe_paths(form, "recent-folders", s.recent_folders);
  describe_paths(form, "recent-sessions", s.recent_sessions);
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
  if (figure) recipe.figure = figure_for(figure->target, figure->window);
  if (figure) recipe.session.look.font_size = spec_of(figure->target).font_size;
  return recipe;
}

fs::path without_last_slash(const fs::path& path) {
  return path.has_relative_path() && !path.has_filename() ? path.parent_path() : path;
}

}  // namespace

nlohmann::ordered_json options_of(const Recipe& recipe, const Options& defaults) {
  Recipe without = without_options(recipe.session.view, recipe.figure);
  without.session.options = defaults;
  if (without.figure) without.figure->target = Target::screen;
  return Fields::written(recipe, without, describe_options);
}

std::string to_json(const Recipe& recipe) {
  const std::optional<Figure>& figure = recipe.figure;
  nlohmann::ordered_json fields{{"program", version()}, {"version", kVersion}};
  if (figure) fields["figure"] = name_of(kFigures, figure->window), fields["command"] = command_of(recipe);
  fields["view"] = recipe.session.view;
  fields.update(options_of(recipe, {}));
  fields.update(Fields::written(recipe.session, Session{}, describe_rest));
  return fields.dump(figure ? -1 : 1, ' ', true) + (figure ? "" : "\n");
}

Recipe recipe_of(std::string_view bytes, const std::string& file) {
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  const bool is_session = start != bytes.npos && bytes[start] == '{';
  std::optional<std::string> note;
  try {
    if (!is_session) note = viz::find_note(bytes, kRecipeNote);
  } catch (const std::runtime_error& e) {
    throw model::LoadError(file + ": " + e.what());
  }
  const json object = is_session || note ? model::parse_json(is_session ? bytes : *note, file) : json();
  if (!object.is_object() || !object.contains("version")) model::reject(file, kRecipe, "none");
  Fields form(object);
  std::string program, view = Session().view;
  int format = 0;
  form.number("version", format, 0, std::numeric_limits<int>::max());
  form.field("program", program);
  if (format != kVersion)
    throw model::LoadError(file + ": it was written by another version of headscope (" +
                           model::quote(program) + ", format " + std::to_string(format) +
                           "); this one reads format " + std::to_string(kVersion));
  // These decide which other options there are, and their defaults.
  form.field("view", view, "a known view", is_view);
  std::optional<Figure> figure;
  if (object.contains("figure")) form.name("figure", figure.emplace().window, kFigures);
  if (figure && !figure->window) form.name("for", figure->target, kTargetNames);
  Recipe recipe = without_options(view, figure);
  recipe.program = program;
  describe_options(form, recipe);
  describe_rest(form, recipe.session);
  for (const auto& [key, expected, found] : form.problems())
    model::reject_value(file, key + " to be " + expected, found);
  recipe.unknown = form.unknown();
  std::erase(recipe.unknown, "command");  // which is for people
  return recipe;
}

Recipe read_recipe(const fs::path& file) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 28;
  return recipe_of(model::read_file(file, kMaxBytes), system::text_of(file));
}

viz::Note recipe_note(const Recipe& recipe) {
  return {std::string(kRecipeNote), to_json(recipe)};
}

Session figure_part(Session s, const View& view) {
  s.view = view.id;
  s.second_view.clear();
  s.panes = {};
  std::erase_if(s.edits, [](const WrittenEdit& edit) { return !edit.on; });
  if (s.second && !s.second->on) s.second.reset();
  if (s.side == Side::difference && !view.shows_difference) s.side = Side::run;
  s.options = options_of(view, s.options);
  if (!view.reads_tries) s.tries.clear();
  if (!needs_list(view, s.options)) s.prompts.reset();
  return s;
}

void remember(std::vector<fs::path>& recent, const fs::path& used) {
  if (used.empty()) return;
  const fs::path newest = without_last_slash(used);
  std::erase_if(recent, [&](const auto& path) { return without_last_slash(path) == newest; });
  recent.insert(recent.begin(), newest);
  if (recent.size() > kMaxRecent) recent.resize(kMaxRecent);
}

std::string to_json(const Settings& settings) {
  return Fields::written(settings, Settings{}, describe_settings).dump(2) + "\n";
}

LoadedSettings parse_settings(std::string_view text, const std::string& file) try {
  const json object = model::parse_json(text, file);
  if (!object.is_object()) model::reject_value(file, "a JSON object", object);
  LoadedSettings loaded;
  Fields form(object);
  describe_settings(form, loaded.settings);
  for (const Fields::Problem& problem : form.problems())
    loaded.message +=
        (loaded.message.empty() ? file + ": invalid values were replaced by defaults: " : ", ") + problem.key;
  return loaded;
} catch (const std::exception& error) {
  return {{}, std::string(error.what()) + "; the default settings are used"};
}

LoadedSettings load_settings(const fs::path& file) try {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(file, ignored))) return {};
  return parse_settings(model::read_file(file, kMaxSettingsBytes), system::text_of(file));
} catch (const std::exception& error) {
  return {{}, std::string(error.what()) + "; the default settings are used"};
}

}  // namespace headscope::app
