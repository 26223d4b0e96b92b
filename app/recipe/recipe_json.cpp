#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "app/recipe/fields.h"
#include "app/recipe/names.h"
#include "app/recipe/recipe.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/precision_names.h"
#include "app/run/sources/weights_hash.h"
#include "app/run/version.h"
#include "app/text/json_text.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

using Json = nlohmann::ordered_json;
using nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kMostBytes = std::size_t{1} << 24;  // of a prompt
constexpr std::size_t kMostIds = std::size_t{1} << 20;
constexpr std::size_t kMostEdits = 10'000;
constexpr std::size_t kMostEditBytes = std::size_t{1} << 23;  // a mask of 2,048 positions
constexpr std::size_t kMostNameBytes = 1024;
constexpr std::size_t kMostTextBytes = 4096;  // of an option
constexpr int kMostIndex = 1 << 24;           // of a layer, a head, a position
constexpr int kLargestSide = 32768;
constexpr float kWidestPane = 1e5F;

// ---- names ----

constexpr Named<bool> kSubjects[]{{"view", false}, {"window", true}};
constexpr Named<Page> kPages[]{{"exact", Page::exact}, {"at least", Page::at_least}, {"fit", Page::trimmed}};

// ---- writing ----

Json bytes(std::string_view text) {
  return Json::parse(bytes_to_json(text).dump());
}

Json options_json(const Options& options) {
  Json object = Json::object();
  for (const OptionSpec* option : all_options())
    if (options.value(*option) != option->default_value)
      object[std::string(option->name)] = to_text(*option, options.value(*option));
  return object;
}

Json tries_json(const Tries& tries) {
  Json list = Json::array();
  for (const Tried& tried : tries)  // NaN becomes null
    list.push_back({{"ids", tried.ids}, {"begun", tried.begun}, {"probabilities", tried.probabilities}});
  return list;
}

Json figure_json(const Figure& figure) {
  return {{"of", name_of(kSubjects, figure.window)},
          {"width", figure.width},
          {"height", figure.height},
          {"page", name_of(kPages, figure.page)},
          {"scale", figure.scale},
          {"caption", figure.caption},
          {"svg_text", figure.svg_text}};
}

Json prompts_json(const PromptList& list) {
  Json object = {{"name", bytes(list.name)}, {"list", Json::array()}};
  for (const Prompt& prompt : list.prompts) {
    Json one = Json::object();
    if (prompt.ids.empty()) {
      one["text"] = bytes(prompt.text);
    } else {
      one["ids"] = prompt.ids;
    }
    object["list"].push_back(std::move(one));
  }
  return object;
}

// ---- reading ----

void read_attention(const Fields& fields, std::string& name) {
  fields.bytes("attention", kMostNameBytes, name);
  if (!name.empty() && !is_file_name(name))
    fields.refuse("attention", "the name of a file, without a folder");
}

void read_weights(const Fields& fields, std::string& weights) {
  fields.bytes("weights", kMostNameBytes, weights);
  if (!weights.empty() && !is_weights_hash(weights))
    fields.refuse("weights", "\"sha256:\" and 64 hexadecimal digits");
}

void read_model(const Fields& fields, Session::Model& model) {
  fields.bytes("name", kMostNameBytes, model.name);
  read_weights(fields, model.weights);
  fields.one_of("precision", kPrecisionNames, model.precision);
  read_attention(fields, model.attention);
}

void read_prompt(const Fields& fields, Prompt& prompt) {
  fields.bytes("text", kMostBytes, prompt.text);
  fields.wholes("ids", 0, kMostIds, prompt.ids);
  fields.flag("start_token", prompt.start_token);
}

Session::Second read_second(const Fields& fields) {
  Session::Second second;
  fields.bytes("text", kMostBytes, second.text);
  fields.flag("on", second.on);
  fields.one_of("alignment", kAlignmentNames, second.alignment);
  read_attention(fields, second.attention);
  read_weights(fields, second.weights);
  return second;
}

std::vector<WrittenEdit> read_edits(const Fields& fields) {
  std::vector<WrittenEdit> edits;
  for (const json& value : fields.list("edits", kMostEdits)) {
    const Fields one = fields.element("edits", edits.size(), value);
    WrittenEdit& edit = edits.emplace_back();
    one.bytes("edit", kMostEditBytes, edit.text);
    one.flag("on", edit.on);
  }
  return edits;
}

void read_view(const Fields& fields, const char* key, bool needed, std::string& id) {
  fields.bytes(key, kMostNameBytes, id);
  const bool none = id.empty() && !needed;
  if (!none && find_view(id) == nullptr) fields.refuse(key, "a view that this headscope has");
}

void read_options(const Fields& fields, Options& options, std::vector<std::string>& unknown) {
  for (const auto& [name, value] : fields.all().items()) {
    const OptionSpec* option = find_option(name);
    if (option == nullptr) {
      unknown.push_back(name);
      continue;
    }
    std::string text;
    fields.bytes(name.c_str(), kMostTextBytes, text);
    try {
      options.set(*option, parse_option(*option, text));
    } catch (const std::invalid_argument&) {
      fields.refuse(name.c_str(), values_of(*option));
    }
  }
}

void read_selection(const Fields& fields, Selection& selection) {
  fields.whole("layer", 0, kMostIndex, selection.layer);
  fields.whole("head", 0, kMostIndex, selection.head);
  fields.whole("query", -1, kMostIndex, selection.query);
  fields.whole("key", -1, kMostIndex, selection.key);
}

Tried read_tried(const Fields& fields) {
  Tried tried;
  fields.wholes("ids", 0, kMostIds, tried.ids);
  fields.whole("begun", 0, static_cast<int>(tried.ids.size()), tried.begun);
  const std::size_t count = tried.ids.size() - static_cast<std::size_t>(tried.begun);
  for (const json& value : fields.list("probabilities", count)) {
    const bool probable = value.is_number() && value.get<double>() >= 0 && value.get<double>() <= 1;
    if (!probable && !value.is_null())
      fields.refuse("probabilities", "a list of numbers from 0 to 1, or nulls");
    tried.probabilities.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                                  : value.get<double>());
  }
  if (tried.probabilities.size() != count)
    fields.refuse("probabilities", "a list of " + std::to_string(count) + ", one for each id behind begun");
  return tried;
}

PromptList read_prompts(const Fields& fields) {
  PromptList list;
  fields.bytes("name", kMostNameBytes, list.name);
  std::size_t size = 0;
  for (const json& value : fields.list("list", PromptList::kMostPrompts)) {
    const Fields one = fields.element("list", list.prompts.size(), value);
    Prompt& prompt = list.prompts.emplace_back();
    one.bytes("text", PromptList::kMostBytes, prompt.text);
    one.wholes("ids", std::numeric_limits<int>::min(), kMostIds, prompt.ids);
    if (!prompt.text.empty() && !prompt.ids.empty()) one.refuse("ids", "none beside a text");
    size += prompt.text.size() + prompt.ids.size();
    if (size > PromptList::kMostBytes)
      fields.refuse("list",
                    "prompts of " + std::to_string(PromptList::kMostBytes) + " bytes and ids at most");
  }
  if (list.prompts.empty()) fields.refuse("list", "prompts");
  return list;
}

void read_look(const Fields& fields, Session::Look& look) {
  fields.one_of("theme", kThemeNames, look.dark);
  fields.number("font_size", 6, 72, look.font_size);
}

void read_panes(const Fields& fields, Session::Panes& panes) {
  fields.number("left", 0, kWidestPane, panes.left);
  fields.number("right", 0, kWidestPane, panes.right);
  fields.number("beside", 0, kWidestPane, panes.beside);
}

Figure read_figure(const Fields& fields) {
  Figure figure;
  fields.one_of("of", kSubjects, figure.window);
  fields.whole("width", 1, kLargestSide, figure.width);
  fields.whole("height", 0, kLargestSide, figure.height);
  fields.one_of("page", kPages, figure.page);
  fields.number("scale", 0.25, 16, figure.scale);
  fields.flag("caption", figure.caption);
  fields.flag("svg_text", figure.svg_text);
  return figure;
}

void read_session(const Fields& fields, Recipe& recipe) {
  Session& s = recipe.session;
  if (const auto part = fields.object("model")) read_model(*part, s.model);
  if (const auto part = fields.object("prompt")) read_prompt(*part, s.prompt);
  s.edits = read_edits(fields);
  fields.flag("edits_off", s.edits_off);
  if (const auto part = fields.object("second")) {
    s.second = read_second(*part);
    if (!s.second->attention.empty() && s.model.attention.empty())
      part->refuse("attention", "none beside a model with weights");
  }
  if (const auto part = fields.object("second_model")) {
    Session::Model second;  // clang refuses emplace() for a nested class of the one that has the optional
    part->bytes("name", kMostNameBytes, second.name);
    read_weights(*part, second.weights);
    if (second.name.empty()) part->refuse("name", "the name of a model");
    if (!s.model.attention.empty()) fields.refuse("second_model", "none beside attention patterns");
    s.second_model = std::move(second);
  }
  fields.one_of("show", kSideNames, s.side);
  read_view(fields, "view", true, s.view);
  read_view(fields, "beside", false, s.beside);
  if (const auto part = fields.object("options")) read_options(*part, s.options, recipe.unknown);
  if (const auto part = fields.object("selection")) read_selection(*part, s.selection);
  for (const json& value : fields.list("tries", kMostTries))
    s.tries.push_back(read_tried(fields.element("tries", s.tries.size(), value)));
  if (const auto part = fields.object("prompts")) s.prompts = read_prompts(*part);
  if (const auto part = fields.object("look")) read_look(*part, s.look);
  if (const auto part = fields.object("panes")) read_panes(*part, s.panes);
}

}  // namespace

std::string to_json(const Recipe& recipe) {
  const Session& s = recipe.session;
  Json object = {
      {"headscope", recipe.figure ? "figure" : "session"}, {"version", kVersion}, {"program", version()}};
  if (recipe.figure) object["command"] = bytes(command_of(recipe));
  object["model"] = {
      {"name", bytes(s.model.name)}, {"weights", s.model.weights}, {"precision", name_of(s.model.precision)}};
  if (!s.model.attention.empty()) object["model"]["attention"] = bytes(s.model.attention);
  object["prompt"] = {
      {"text", bytes(s.prompt.text)}, {"ids", s.prompt.ids}, {"start_token", s.prompt.start_token}};
  if (!s.edits.empty()) {
    for (const WrittenEdit& edit : s.edits)
      object["edits"].push_back({{"edit", bytes(edit.text)}, {"on", edit.on}});
    object["edits_off"] = s.edits_off;
  }
  if (s.second)
    object["second"] = {{"text", bytes(s.second->text)},
                        {"on", s.second->on},
                        {"alignment", name_of(kAlignmentNames, s.second->alignment)}};
  if (s.second && !s.second->attention.empty()) object["second"]["attention"] = bytes(s.second->attention);
  if (s.second && !s.second->weights.empty()) object["second"]["weights"] = s.second->weights;
  if (s.second_model)
    object["second_model"] = {{"name", bytes(s.second_model->name)}, {"weights", s.second_model->weights}};
  object["show"] = name_of(kSideNames, s.side);
  object["view"] = s.view;
  if (!s.beside.empty()) object["beside"] = s.beside;
  object["options"] = options_json(s.options);
  object["selection"] = {{"layer", s.selection.layer},
                         {"head", s.selection.head},
                         {"query", s.selection.query},
                         {"key", s.selection.key}};
  if (!s.tries.empty()) object["tries"] = tries_json(s.tries);
  if (s.prompts) object["prompts"] = prompts_json(*s.prompts);
  object["look"] = {{"theme", name_of(kThemeNames, s.look.dark)}, {"font_size", s.look.font_size}};
  if (s.panes != Session::Panes{})
    object["panes"] = {{"left", s.panes.left}, {"right", s.panes.right}, {"beside", s.panes.beside}};
  if (recipe.figure) object["figure"] = figure_json(*recipe.figure);
  return object.dump(recipe.figure ? -1 : 1, ' ', true) + (recipe.figure ? "" : "\n");
}

Recipe parse_recipe(std::string_view text, const std::string& file) {
  const json object = model::parse_json(text, file);
  const Fields fields(object, file);
  std::string kind;
  fields.bytes("headscope", kMostNameBytes, kind);
  if (kind != "figure" && kind != "session") fields.refuse("headscope", "\"figure\" or \"session\"");
  int version = 0;
  fields.whole("version", 1, std::numeric_limits<int>::max(), version);
  if (version < 1) fields.refuse("version", "a whole number from 1");
  Recipe recipe;
  fields.bytes("program", kMostNameBytes, recipe.program);
  if (version > kVersion)
    throw model::LoadError(file + ": a newer headscope wrote it (" + model::quote(recipe.program) +
                           ", format " + std::to_string(version) + "); this one reads formats up to " +
                           std::to_string(kVersion));
  read_session(fields, recipe);
  if (const auto part = fields.object("figure")) recipe.figure = read_figure(*part);
  if (kind == "figure" && !recipe.figure) fields.refuse("figure", "an object");
  if (kind == "session") recipe.figure.reset();
  return recipe;
}

Recipe recipe_of(std::string_view file_bytes, const std::string& file) {
  const std::size_t start = file_bytes.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && file_bytes[start] == '{') return parse_recipe(file_bytes, file);
  std::optional<std::string> note;
  try {
    note = viz::find_note(file_bytes, kRecipeNote);
  } catch (const std::runtime_error& e) {
    throw model::LoadError(file + ": " + e.what());
  }
  if (!note)
    throw model::LoadError(
        file +
        ": expected a session, or a picture with the recipe that headscope writes into it, "
        "found none");
  return parse_recipe(*note, file);
}

Recipe read_recipe(const std::filesystem::path& file) {
  constexpr std::size_t kMostFileBytes = std::size_t{1} << 28;
  return recipe_of(model::read_file(file, kMostFileBytes), file.string());
}

bool fits_vocabulary(const Tried& tried, int vocabulary) {
  return std::ranges::all_of(tried.ids, [&](int id) { return id < vocabulary; });
}

viz::Note note_of(const Recipe& recipe) {
  return {std::string(kRecipeNote), to_json(recipe)};
}

}  // namespace headscope::app
