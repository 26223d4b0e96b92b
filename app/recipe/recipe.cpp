#include "app/recipe/recipe.h"

#include <algorithm>
#include <nlohmann/json.hpp>
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

constexpr int kVersion = 3;

constexpr Named<Page> kPages[]{
    {"exact", Page::exact}, {"width", Page::width}, {"at least", Page::at_least}, {"fit", Page::trimmed}};

constexpr int kSmallestWindow = 320;
constexpr int kLargestWindow = 16384;
constexpr std::size_t kMaxSettingsBytes = 16 * Prompt::kMaxBytes;  // each may be a number on its line

void describe_weights(Fields& form, std::string& weights) {
  form.field(
      "weights", weights, [](const auto& hash) { return hash.empty() || is_weights_hash(hash); },
      "\"sha256:\" and 64 hexadecimal digits");
}

/// Attention files are named, never placed.
void describe_attention(Fields& form, std::string& name) {
  form.field(
      "attention", name, [](const auto& file) { return file.empty() || system::is_file_name(file); },
      "the name of a file, without a folder");
}

void describe_token(Fields& form, const char* key, TokenRef& token) {
  std::string text = text_of(token);
  form.field(key, text);
  try {
    token = text.empty() ? TokenRef() : parse_token(text);
  } catch (const std::invalid_argument&) {
    form.reject(key, "a token's text, \"id:4\" or \"rank:2\"");
  }
}

bool is_view(std::string_view id) {
  return find_view(id) != nullptr;
}

std::filesystem::path without_last_slash(const std::filesystem::path& path) {
  return path.has_relative_path() && !path.has_filename() ? path.parent_path() : path;
}

}  // namespace

// The fields of the file format.

static void describe(Fields& form, Session::Model& model) {
  form.field("name", model.name);
  describe_weights(form, model.weights);
  form.field("precision", model.precision, kPrecisionNames);
  describe_attention(form, model.attention);
  form.field("adds_start_token", model.adds_start_token);
}

static void describe(Fields& form, Prompt& prompt) {
  form.field("text", prompt.text);
  form.field("ids", prompt.ids);
  form.field("start_token", prompt.start_token);
}

/// Each as its text, after "off: " if it is switched off.
static void describe_edits(Fields& form, std::vector<WrittenEdit>& edits) {
  constexpr std::string_view kOff = "off: ";
  std::vector<std::string> texts;
  for (const WrittenEdit& edit : edits) texts.push_back((edit.on ? "" : std::string(kOff)) + edit.text);
  form.field("edits", texts);
  if (texts.size() > kMaxEdits) return form.reject("edits", "at most " + std::to_string(kMaxEdits));
  edits.clear();
  for (const std::string& text : texts)
    edits.push_back(text.starts_with(kOff) ? WrittenEdit{text.substr(kOff.size()), false}
                                           : WrittenEdit{text});
}

static void describe(Fields& form, Session::Second& second) {
  form.field("text", second.text);
  form.field("on", second.on);
  form.field("alignment", second.alignment, kAlignmentNames);
  describe_attention(form, second.attention);
  describe_weights(form, second.weights);
}

static void describe(Fields& form, TriedText& tried) {
  form.field("ids", tried.ids);
  if (std::ranges::any_of(tried.ids, [](int id) { return id < 0; })) form.reject("ids", "numbers from 0");
  form.field("begun", tried.start, 0, static_cast<int>(tried.ids.size()));
  form.field("probabilities", tried.probabilities);
  if (tried.probabilities.size() + static_cast<std::size_t>(tried.start) != tried.ids.size() ||
      std::ranges::any_of(tried.probabilities, [](double share) { return share < 0 || share > 1; }))
    form.reject("probabilities", "numbers from 0 to 1, one for each id after `begun`");
}

/// One prompt of a list, and what its line says of how it is measured.
static void describe(Fields& form, ListedPrompt& prompt) {
  describe(form, static_cast<Prompt&>(prompt));
  if (!prompt.text.empty() && !prompt.ids.empty()) form.reject("ids", "no ids, because there is a text");
  form.field("second", prompt.second);
  describe_token(form, "token", prompt.token);
  describe_token(form, "other_token", prompt.other_token);
  form.field("position", prompt.position);
  if (prompt.position.value_or(0) < -1) form.reject("position", "a number from -1");
  form.field("problem", prompt.problem);
}

static void describe(Fields& form, PromptList& list) {
  form.field("name", list.name);
  form.field("list", list.prompts);
  std::size_t size = 0;
  for (const ListedPrompt& prompt : list.prompts)
    size += prompt.text.size() + prompt.ids.size() + prompt.second.value_or("").size();
  if (size > PromptList::kMaxBytes || list.prompts.empty() || list.prompts.size() > PromptList::kMaxPrompts)
    form.reject("list", "1 to " + std::to_string(PromptList::kMaxPrompts) + " prompts of " +
                            std::to_string(PromptList::kMaxBytes) + " bytes and ids at most");
}

static void describe(Fields& form, Options& options) {
  for (const OptionSpec* option : all_options()) {
    std::string text = to_text(*option, options.value(*option));
    form.field(std::string(option->name), text);
    try {
      options.set(*option, parse_option(*option, text));
    } catch (const std::invalid_argument&) {
      form.reject(std::string(option->name), values_of(*option));
    }
  }
}

static void describe(Fields& form, Figure& figure) {
  form.field("window", figure.window);
  form.field("width", figure.width, 1, kLongestSide);
  form.field("height", figure.height, 0, kLongestSide);
  form.field("page", figure.page, kPages);
  form.field("scale", figure.scale, 0.25F, 16.F);
  form.field("caption", figure.caption);
  form.field("title", figure.title);
  form.field("svg_text", figure.svg_text);
  form.field("rows", figure.rows, 0, kLongestSide);
  form.field("for", figure.target, kTargetNames);
}

void describe(Fields& form, Session& s) {
  constexpr int kMaxIndex = 1 << 24;
  form.field("model", s.model);
  form.field("second_model", s.second_model);
  form.field("prompt", s.prompt);
  describe_edits(form, s.edits);
  form.field("second", s.second);
  form.field("show", s.side, kSideNames);
  form.field("view", s.view, is_view, "a known view");
  form.field(
      "beside", s.second_view, [](const auto& id) { return id.empty() || is_view(id); }, "a known view");
  form.field("layer", s.selection.layer, 0, kMaxIndex);
  form.field("head", s.selection.head, 0, kMaxIndex);
  form.field("query", s.selection.query, -1, kMaxIndex);
  form.field("key", s.selection.key, -1, kMaxIndex);
  form.field("options", s.options);
  form.field("tries", s.tries);
  form.field("prompts", s.prompts);
  form.field("theme", s.look.dark, kThemeNames);
  form.field("font_size", s.look.font_size, 6.F, 72.F);
  form.field("heads_pane", s.panes.heads, 0.F, kWidestPane);
  form.field("next_pane", s.panes.next, 0.F, kWidestPane);
  form.field("beside_pane", s.panes.second_view, 0.F, kWidestPane);
  const bool patterns = !s.model.attention.empty();
  if (s.second_model && (patterns || s.second_model->name.empty()))
    form.reject("second_model", patterns ? "no second model, because the first one is an attention file"
                                         : "a model with a name");
  if (!patterns && s.second && !s.second->attention.empty())
    form.reject("second", "no attention file, because the model has weights");
  if (s.tries.size() > kMaxTries) form.reject("tries", "at most " + std::to_string(kMaxTries));
}

static void describe(Fields& form, Settings& s) {
  describe(form, s.session);
  form.field("has_prompt", s.has_prompt);
  form.field("window_width", s.window_width, kSmallestWindow, kLargestWindow);
  form.field("window_height", s.window_height, kSmallestWindow, kLargestWindow);
  form.field("last_model", s.last_model);
  for (const auto& [key, recent] : {std::pair("recent_models", &s.recent_models),
                                    {"recent_folders", &s.recent_folders},
                                    {"recent_sessions", &s.recent_sessions}}) {
    form.field(key, *recent);
    for (const auto& path : std::vector(recent->rbegin(), recent->rend()))
      remember(*recent, path);  // each once
  }
  form.field("export_folder", s.export_folder);
  form.field("export_scale", s.export_scale, 1, kMaxExportScale);
  form.field("offer_models", s.offer_models);
  form.field("all_controls", s.all_controls);
  form.field("finished_tours", s.finished_tours);
  form.field("start_token", s.start_token);
}

std::string to_json(const Recipe& recipe) {
  nlohmann::ordered_json json{{"program", version()}, {"version", kVersion}};
  if (recipe.figure) json["command"] = command_of(recipe);
  json.update(Fields::written(recipe.session));
  if (recipe.figure) json["figure"] = Fields::written(*recipe.figure);
  return json.dump(recipe.figure ? -1 : 1, ' ', true) + (recipe.figure ? "" : "\n");
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
  if (!is_session && !note) model::reject(file, "a session, or a picture with a headscope recipe", "none");
  const nlohmann::json object = model::parse_json(is_session ? bytes : *note, file);
  Fields form(object, file);
  Recipe recipe;
  int format = 0;
  form.field("version", format);
  if (format < 1) form.reject("version", "a number from 1");
  form.field("program", recipe.program);
  if (format != kVersion)
    throw model::LoadError(file + ": it was written by another version of headscope (" +
                           model::quote(recipe.program) + ", format " + std::to_string(format) +
                           "); this one reads format " + std::to_string(kVersion));
  describe(form, recipe.session);
  form.field("figure", recipe.figure);
  for (const auto& [name, ignored] : model::member(object, "options").items())
    if (find_option(name) == nullptr) recipe.unknown.push_back(name);
  return recipe;
}

Recipe read_recipe(const std::filesystem::path& file) {
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

void remember(std::vector<std::filesystem::path>& recent, const std::filesystem::path& used) {
  if (used.empty()) return;
  const std::filesystem::path newest = without_last_slash(used);
  std::erase_if(recent, [&](const auto& path) { return without_last_slash(path) == newest; });
  recent.insert(recent.begin(), newest);
  if (recent.size() > kMaxRecent) recent.resize(kMaxRecent);
}

std::string to_json(const Settings& settings) {
  return Fields::written(settings).dump(2) + "\n";
}

LoadedSettings parse_settings(std::string_view text, const std::string& file) {
  LoadedSettings loaded;
  try {
    const nlohmann::json object = model::parse_json(text, file);
    Fields form(object, file, &loaded.message);
    describe(form, loaded.settings);
    if (!loaded.message.empty())
      loaded.message = file + ": invalid values were replaced by defaults: " + loaded.message;
    return loaded;
  } catch (const std::exception& error) {
    return {{}, std::string(error.what()) + "; the default settings are used"};
  }
}

LoadedSettings load_settings(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) return {};
  try {
    return parse_settings(model::read_file(file, kMaxSettingsBytes), system::text_of(file));
  } catch (const std::exception& error) {
    return {{}, std::string(error.what()) + "; the default settings are used"};
  }
}

}  // namespace headscope::app
