#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "app/recipe/fields.h"
#include "app/recipe/names.h"
#include "app/recipe/recipe.h"
#include "app/recipe/selection_fields.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/precision_names.h"
#include "app/run/sources/weights_hash.h"
#include "app/run/version.h"
#include "app/text/json_text.h"
#include "app/views/figure_size.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "model/files/quote.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

using nlohmann::json;

constexpr int kVersion = 2;
constexpr std::size_t kMaxBytes = std::size_t{1} << 24;  // limit of a prompt's size
constexpr std::size_t kMaxIds = std::size_t{1} << 20;
constexpr std::size_t kMaxEdits = 10'000;
constexpr std::size_t kMaxEditBytes = std::size_t{1} << 23;  // a mask of 2,048 positions
constexpr std::size_t kMaxNameBytes = 1024;
constexpr float kWidestSavedPane = 1e5F;

constexpr Named<bool> kSubjects[]{{"view", false}, {"window", true}};
constexpr Named<Page> kPages[]{
    {"exact", Page::exact}, {"width", Page::width}, {"at least", Page::at_least}, {"fit", Page::trimmed}};

// The keys of the file format; `form` is a FieldReader or a FieldWriter.

void describe_weights(auto& form, const std::string& weights) {
  if (!weights.empty() && !is_weights_hash(weights))
    form.reject("weights", "\"sha256:\" and 64 hexadecimal digits");
}

void describe_attention(auto& form, auto& name) {
  form.bytes_if_any("attention", kMaxNameBytes, name);
  if (!name.empty() && !system::is_file_name(name))
    form.reject("attention", "the name of a file, without a folder");
}

void describe_model(auto& form, auto& model) {
  form.bytes("name", kMaxNameBytes, model.name);
  form.bytes("weights", kMaxNameBytes, model.weights);
  describe_weights(form, model.weights);
  form.one_of("precision", kPrecisionNames, model.precision);
  describe_attention(form, model.attention);
  form.flag_if_any("adds_start_token", model.adds_start_token);
}

void describe_second_model(auto& form, auto& model) {
  form.bytes("name", kMaxNameBytes, model.name);
  form.bytes("weights", kMaxNameBytes, model.weights);
  describe_weights(form, model.weights);
  if (model.name.empty()) form.reject("name", "the name of a model");
}

void describe_prompt(auto& form, auto& prompt) {
  form.bytes("text", kMaxBytes, prompt.text);
  form.integers("ids", 0, kMaxIds, prompt.ids);
  form.flag("start_token", prompt.start_token);
}

/// The edits as texts, and the indices of those that are switched off.
void describe_edits(const FieldReader& form, std::vector<WrittenEdit>& edits) {
  for (std::optional<std::string>& text : form.texts("edits", kMaxEditBytes)) {
    if (!text) form.reject("edits", "a list of texts");
    edits.push_back({*std::move(text), true});
  }
  if (edits.size() > kMaxEdits) form.reject("edits", "a list of at most " + std::to_string(kMaxEdits));
  std::vector<int> off;
  form.integers("switched_off", 0, kMaxEdits, off);
  for (const int index : off) {
    if (index >= std::ssize(edits)) form.reject("switched_off", "indices of edits");
    edits[index].on = false;
  }
}
void describe_edits(FieldWriter& form, const std::vector<WrittenEdit>& edits) {
  std::vector<std::string> texts;
  std::vector<int> off;
  for (const WrittenEdit& edit : edits) {
    if (!edit.on) off.push_back(static_cast<int>(texts.size()));
    texts.push_back(edit.text);
  }
  if (!texts.empty()) form.texts("edits", texts);
  if (!off.empty()) form.integers("switched_off", 0, kMaxEdits, off);
}

void describe_second(auto& form, auto& second) {
  form.bytes("text", kMaxBytes, second.text);
  form.flag("on", second.on);
  form.one_of("alignment", kAlignmentNames, second.alignment);
  describe_attention(form, second.attention);
  form.bytes_if_any("weights", kMaxNameBytes, second.weights);
  describe_weights(form, second.weights);
}

void describe_tried(auto& form, auto& tried) {
  form.integers("ids", 0, kMaxIds, tried.ids);
  form.whole("begun", 0, static_cast<int>(tried.ids.size()), tried.start);
  form.shares("probabilities", tried.ids.size() - static_cast<std::size_t>(tried.start), tried.probabilities);
}

/// A token that a list's line names, as lines write it.
template <class Form>
void describe_given(Form& form, const char* key, auto& token) {
  std::string text;
  if constexpr (!Form::kReads) text = text_of(token);
  form.bytes_if_any(key, PromptList::kMaxBytes, text);
  if constexpr (Form::kReads) {
    if (text.empty()) return;
    try {
      token = parse_given_token(text);
    } catch (const std::invalid_argument&) {
      form.reject(key, "a token's text, \"id:4\" or \"rank:2\"");
    }
  }
}

/// What a list's line says of how its prompt is measured.
template <class Form>
void describe_measured(Form& form, auto& prompt) {
  const auto if_any = [&](const char* key, auto& value, const auto& describe) {
    if constexpr (Form::kReads) {
      if (form.has(key)) describe(value.emplace());
    } else if (value) {
      describe(*value);
    }
  };
  if_any("second", prompt.second, [&](auto& text) { form.bytes("second", PromptList::kMaxBytes, text); });
  describe_given(form, "token", prompt.token);
  describe_given(form, "other_token", prompt.other_token);
  if_any("position", prompt.position,
         [&](auto& position) { form.whole("position", -1, std::numeric_limits<int>::max(), position); });
  form.bytes_if_any("problem", PromptList::kMaxBytes, prompt.problem);
}

/// One prompt of a list: a text or ids, and how it is measured.
template <class Form>
void describe_listed(Form& form, auto& prompt) {
  if (Form::kReads || prompt.ids.empty()) form.bytes("text", PromptList::kMaxBytes, prompt.text);
  if (Form::kReads || !prompt.ids.empty())
    form.integers("ids", std::numeric_limits<int>::min(), kMaxIds, prompt.ids);
  if (!prompt.text.empty() && !prompt.ids.empty()) form.reject("ids", "no ids, because there is a text");
  describe_measured(form, prompt);
}

void describe_prompts(auto& form, auto& list) {
  form.bytes("name", kMaxNameBytes, list.name);
  form.list("list", PromptList::kMaxPrompts, list.prompts,
            [](auto& one, auto& prompt) { describe_listed(one, prompt); });
  std::size_t size = 0;
  for (const ListedPrompt& prompt : list.prompts)
    size += prompt.text.size() + prompt.ids.size() + prompt.second.value_or("").size();
  if (size > PromptList::kMaxBytes)
    form.reject("list", "prompts of " + std::to_string(PromptList::kMaxBytes) + " bytes and ids at most");
  if (list.prompts.empty()) form.reject("list", "prompts");
}

void describe_look(auto& form, auto& look) {
  form.one_of("theme", kThemeNames, look.dark);
  form.number("font_size", 6, 72, look.font_size);
}

void describe_panes(auto& form, auto& panes) {
  form.number("left", 0, kWidestSavedPane, panes.heads);
  form.number("right", 0, kWidestSavedPane, panes.next);
  form.number("beside", 0, kWidestSavedPane, panes.second_view);
}

template <class Form>
void describe_figure(Form& form, auto& figure) {
  form.one_of("of", kSubjects, figure.window);
  form.whole("width", 1, kLongestSide, figure.width);
  form.whole("height", 0, kLongestSide, figure.height);
  form.one_of("page", kPages, figure.page);
  form.number("scale", 0.25, 16, figure.scale);
  form.flag("caption", figure.caption);
  form.flag("svg_text", figure.svg_text);
  form.whole("rows", 0, kLongestSide, figure.rows);
  if (Form::kReads || figure.target != Target::screen) form.one_of("for", kTargetNames, figure.target);
  if (Form::kReads || !figure.title) form.flag("title", figure.title);
}

void describe_view(auto& form, const char* key, bool needed, auto& id) {
  form.bytes_if_any(key, kMaxNameBytes, id);
  if ((needed || !id.empty()) && find_view(id) == nullptr) form.reject(key, "a known view");
}

template <class Form>
void describe_session(Form& form, auto& s, auto& unknown) {
  form.object("model", s.model, [](auto& part, auto& model) { describe_model(part, model); });
  form.object("prompt", s.prompt, [](auto& part, auto& prompt) { describe_prompt(part, prompt); });
  describe_edits(form, s.edits);
  form.optional("second", s.second, [&](auto& part, auto& second) {
    describe_second(part, second);
    if (!second.attention.empty() && s.model.attention.empty())
      part.reject("attention", "no attention file, because the model has weights");
  });
  form.optional("second_model", s.second_model,
                [](auto& part, auto& second) { describe_second_model(part, second); });
  if (s.second_model && !s.model.attention.empty())
    form.reject("second_model", "no second model, because the first one is an attention file");
  form.one_of("show", kSideNames, s.side);
  describe_view(form, "view", true, s.view);
  describe_view(form, "beside", false, s.second_view);
  form.options("options", s.options, unknown);
  form.object("selection", s.selection, [](auto& part, auto& place) { describe_selection(part, place); });
  form.list("tries", kMaxTries, s.tries, [](auto& part, auto& tried) { describe_tried(part, tried); });
  form.optional("prompts", s.prompts, [](auto& part, auto& list) { describe_prompts(part, list); });
  form.object("look", s.look, [](auto& part, auto& look) { describe_look(part, look); });
  if (Form::kReads || s.panes != PaneSizes{})
    form.object("panes", s.panes, [](auto& part, auto& panes) { describe_panes(part, panes); });
}

}  // namespace

std::string to_json(const Recipe& recipe) {
  const bool figure = recipe.figure.has_value();
  FieldWriter form;
  form.bytes("headscope", kMaxNameBytes, figure ? "figure" : "session");
  form.whole("version", 1, kVersion, kVersion);
  form.bytes("program", kMaxNameBytes, version());
  if (figure) form.bytes("command", kMaxBytes, command_of(recipe));
  describe_session(form, recipe.session, recipe.unknown);
  form.optional("figure", recipe.figure, [](auto& part, auto& how) { describe_figure(part, how); });
  return form.take().dump(figure ? -1 : 1, ' ', true) + (figure ? "" : "\n");
}

Recipe parse_recipe(std::string_view text, const std::string& file) {
  const json object = model::parse_json(text, file);
  FieldReader form(object, file);
  std::string kind;
  form.bytes("headscope", kMaxNameBytes, kind);
  if (kind != "figure" && kind != "session") form.reject("headscope", "\"figure\" or \"session\"");
  int version = 0;
  form.whole("version", 1, std::numeric_limits<int>::max(), version);
  if (version < 1) form.reject("version", "a whole number from 1");
  Recipe recipe;
  form.bytes("program", kMaxNameBytes, recipe.program);
  if (version != kVersion)
    throw model::LoadError(file + ": it was written by another version of headscope (" +
                           model::quote(recipe.program) + ", format " + std::to_string(version) +
                           "); this one reads format " + std::to_string(kVersion));
  describe_session(form, recipe.session, recipe.unknown);
  form.optional("figure", recipe.figure, [](auto& part, auto& how) { describe_figure(part, how); });
  if (kind == "figure" && !recipe.figure) form.reject("figure", "an object");
  if (kind == "session") recipe.figure.reset();
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
