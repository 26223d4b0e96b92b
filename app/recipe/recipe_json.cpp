#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "app/recipe/fields.h"
#include "app/recipe/names.h"
#include "app/recipe/recipe.h"
#include "app/run/edits/edit_text.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/precision_names.h"
#include "app/run/sources/weights_hash.h"
#include "app/run/version.h"
#include "app/views/figure_size.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "model/files/quote.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

constexpr int kVersion = 2;
constexpr float kWidestSavedPane = 1e5F;

constexpr Named<bool> kSubjects[]{{"view", false}, {"window", true}};
constexpr Named<Page> kPages[]{
    {"exact", Page::exact}, {"width", Page::width}, {"at least", Page::at_least}, {"fit", Page::trimmed}};

// The keys of the file format.

void describe_weights(Fields& form, std::string& weights) {
  if (!weights.empty() && !is_weights_hash(weights))
    form.reject("weights", "\"sha256:\" and 64 hexadecimal digits");
}

void describe_attention(Fields& form, std::string& name) {
  form.bytes_if_any("attention", name);
  if (!name.empty() && !system::is_file_name(name))
    form.reject("attention", "the name of a file, without a folder");
}

void describe_name_and_weights(Fields& form, Session::Model& model) {
  form.bytes("name", model.name);
  form.bytes("weights", model.weights);
  describe_weights(form, model.weights);
}

void describe_model(Fields& form, Session::Model& model) {
  describe_name_and_weights(form, model);
  form.one_of("precision", kPrecisionNames, model.precision);
  describe_attention(form, model.attention);
  form.flag_if_any("adds_start_token", model.adds_start_token);
}

void describe_second_model(Fields& form, Session::Model& model) {
  describe_name_and_weights(form, model);
  if (model.name.empty()) form.reject("name", "the name of a model");
}

void describe_prompt(Fields& form, Prompt& prompt) {
  form.bytes("text", prompt.text, Prompt::kMaxBytes);
  form.integers("ids", 0, Prompt::kMaxBytes, prompt.ids);
  form.flag("start_token", prompt.start_token);
}

/// The edits as texts, and the indices of those that are switched off.
void describe_edits(Fields& form, std::vector<WrittenEdit>& edits) {
  std::vector<std::string> texts;
  std::vector<int> off;
  for (const WrittenEdit& edit : edits) {
    if (!edit.on) off.push_back(static_cast<int>(texts.size()));
    texts.push_back(edit.text);
  }
  if (form.reads() || !texts.empty()) form.texts("edits", kMaxEdits, texts);
  if (form.reads() || !off.empty()) form.integers("switched_off", 0, kMaxEdits, off);
  edits.clear();
  for (std::string& text : texts) edits.push_back({std::move(text)});
  for (const int index : off) {
    if (index >= std::ssize(edits)) return form.reject("switched_off", "indices of edits");
    edits[index].on = false;
  }
}

void describe_second(Fields& form, Session::Second& second) {
  form.bytes("text", second.text, Prompt::kMaxBytes);
  form.flag("on", second.on);
  form.one_of("alignment", kAlignmentNames, second.alignment);
  describe_attention(form, second.attention);
  form.bytes_if_any("weights", second.weights);
  describe_weights(form, second.weights);
}

void describe_tried(Fields& form, TriedText& tried) {
  form.integers("ids", 0, Prompt::kMaxBytes, tried.ids);
  form.whole("begun", 0, static_cast<int>(tried.ids.size()), tried.start);
  form.shares("probabilities", tried.ids.size() - static_cast<std::size_t>(tried.start), tried.probabilities);
}

/// A token that a list's line names, as lines write it.
void describe_given(Fields& form, const char* key, GivenToken& token) {
  std::string text = text_of(token);
  form.bytes_if_any(key, text, PromptList::kMaxBytes);
  if (text.empty()) return;
  try {
    token = parse_given_token(text);
  } catch (const std::invalid_argument&) {
    form.reject(key, "a token's text, \"id:4\" or \"rank:2\"");
  }
}

/// One prompt of a list: a text or ids, and what its line says of how it is measured.
void describe_listed(Fields& form, ListedPrompt& prompt) {
  if (form.reads() || prompt.ids.empty()) form.bytes("text", prompt.text, PromptList::kMaxBytes);
  if (form.reads() || !prompt.ids.empty())
    form.integers("ids", std::numeric_limits<int>::min(), PromptList::kMaxBytes, prompt.ids);
  if (!prompt.text.empty() && !prompt.ids.empty()) form.reject("ids", "no ids, because there is a text");
  if (form.given("second", prompt.second)) form.bytes("second", *prompt.second, PromptList::kMaxBytes);
  describe_given(form, "token", prompt.token);
  describe_given(form, "other_token", prompt.other_token);
  if (form.given("position", prompt.position))
    form.whole("position", -1, std::numeric_limits<int>::max(), *prompt.position);
  form.bytes_if_any("problem", prompt.problem, PromptList::kMaxBytes);
}

void describe_prompts(Fields& form, PromptList& list) {
  form.bytes("name", list.name);
  form.list("list", PromptList::kMaxPrompts, list.prompts, describe_listed);
  std::size_t size = 0;
  for (const ListedPrompt& prompt : list.prompts)
    size += prompt.text.size() + prompt.ids.size() + prompt.second.value_or("").size();
  if (size > PromptList::kMaxBytes)
    form.reject("list", "prompts of " + std::to_string(PromptList::kMaxBytes) + " bytes and ids at most");
  if (list.prompts.empty()) form.reject("list", "prompts");
}

void describe_look(Fields& form, Session::Look& look) {
  form.one_of("theme", kThemeNames, look.dark);
  form.number("font_size", 6, 72, look.font_size);
}

void describe_panes(Fields& form, PaneSizes& panes) {
  form.number("left", 0, kWidestSavedPane, panes.heads);
  form.number("right", 0, kWidestSavedPane, panes.next);
  form.number("beside", 0, kWidestSavedPane, panes.second_view);
}

void describe_figure(Fields& form, Figure& figure) {
  form.one_of("of", kSubjects, figure.window);
  form.whole("width", 1, kLongestSide, figure.width);
  form.whole("height", 0, kLongestSide, figure.height);
  form.one_of("page", kPages, figure.page);
  form.number("scale", 0.25, 16, figure.scale);
  form.flag("caption", figure.caption);
  form.flag("svg_text", figure.svg_text);
  form.whole("rows", 0, kLongestSide, figure.rows);
  if (form.reads() || figure.target != Target::screen) form.one_of("for", kTargetNames, figure.target);
  if (form.reads() || !figure.title) form.flag("title", figure.title);
}

void describe_view(Fields& form, const char* key, bool needed, std::string& id) {
  form.bytes_if_any(key, id);
  if ((needed || !id.empty()) && find_view(id) == nullptr) form.reject(key, "a known view");
}

void describe_session(Fields& form, Session& s, std::vector<std::string>& unknown) {
  form.object("model", s.model, describe_model);
  form.object("prompt", s.prompt, describe_prompt);
  describe_edits(form, s.edits);
  form.optional("second", s.second, [&](Fields& part, Session::Second& second) {
    describe_second(part, second);
    if (!second.attention.empty() && s.model.attention.empty())
      part.reject("attention", "no attention file, because the model has weights");
  });
  form.optional("second_model", s.second_model, describe_second_model);
  if (s.second_model && !s.model.attention.empty())
    form.reject("second_model", "no second model, because the first one is an attention file");
  form.one_of("show", kSideNames, s.side);
  describe_view(form, "view", true, s.view);
  describe_view(form, "beside", false, s.second_view);
  form.options("options", s.options, unknown);
  form.object("selection", s.selection, describe_selection);
  form.list("tries", kMaxTries, s.tries, describe_tried);
  form.optional("prompts", s.prompts, describe_prompts);
  form.object("look", s.look, describe_look);
  if (form.reads() || s.panes != PaneSizes{}) form.object("panes", s.panes, describe_panes);
}

void describe_recipe(Fields& form, const std::string& file, Recipe& recipe) {
  std::string kind = recipe.figure ? "figure" : "session";
  form.bytes("headscope", kind);
  if (kind != "figure" && kind != "session") form.reject("headscope", "\"figure\" or \"session\"");
  int format = form.reads() ? 0 : kVersion;
  form.whole("version", 1, std::numeric_limits<int>::max(), format);
  if (format < 1) form.reject("version", "a whole number from 1");
  form.bytes("program", recipe.program);
  if (format != kVersion)
    throw model::LoadError(file + ": it was written by another version of headscope (" +
                           model::quote(recipe.program) + ", format " + std::to_string(format) +
                           "); this one reads format " + std::to_string(kVersion));
  if (!form.reads() && recipe.figure) {
    std::string command = command_of(recipe);
    form.bytes("command", command);
  }
  describe_session(form, recipe.session, recipe.unknown);
  form.optional("figure", recipe.figure, describe_figure);
  if (kind == "figure" && !recipe.figure) form.reject("figure", "an object");
  if (kind == "session") recipe.figure.reset();
}

}  // namespace

void describe_selection(Fields& form, Selection& selection) {
  constexpr int kMaxIndex = 1 << 24;
  form.whole("layer", 0, kMaxIndex, selection.layer);
  form.whole("head", 0, kMaxIndex, selection.head);
  form.whole("query", -1, kMaxIndex, selection.query);
  form.whole("key", -1, kMaxIndex, selection.key);
}

std::string to_json(const Recipe& recipe) {
  Recipe written = recipe;
  written.program = version();
  Fields form;
  describe_recipe(form, "", written);
  const bool is_figure = recipe.figure.has_value();
  return form.take().dump(is_figure ? -1 : 1, ' ', true) + (is_figure ? "" : "\n");
}

Recipe parse_recipe(std::string_view text, const std::string& file) {
  const nlohmann::json object = model::parse_json(text, file);
  Fields form(object, file);
  Recipe recipe;
  describe_recipe(form, file, recipe);
  return recipe;
}

Recipe recipe_of(std::string_view file_bytes, const std::string& file) {
  const std::size_t start = file_bytes.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && file_bytes[start] == '{') return parse_recipe(file_bytes, file);
  std::optional<std::string> json;
  try {
    json = viz::find_note(file_bytes, kRecipeNote);
  } catch (const std::runtime_error& e) {
    throw model::LoadError(file + ": " + e.what());
  }
  if (!json)
    throw model::LoadError(file + ": expected a session, or a picture with a headscope recipe, found none");
  return parse_recipe(*json, file);
}

Recipe read_recipe(const std::filesystem::path& file) {
  constexpr std::size_t kMaxFileBytes = std::size_t{1} << 28;
  return recipe_of(model::read_file(file, kMaxFileBytes), system::text_of(file));
}

bool fits_vocabulary(const TriedText& tried, int vocabulary) {
  return std::ranges::all_of(tried.ids, [&](int id) { return id < vocabulary; });
}

viz::Note recipe_note(const Recipe& recipe) {
  return {std::string(kRecipeNote), to_json(recipe)};
}

}  // namespace headscope::app
