#include "app/cli/recipes.h"

#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "app/run/edits/edit_text.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/paths.h"
#include "app/run/sources/pattern_file.h"
#include "app/run/sources/weights_hash.h"
#include "app/text/output_text.h"
#include "app/views/view.h"
#include "model/files/error.h"
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

}  // namespace

WeightHashes weights_of(const Engine& engine) {
  return {weights_hash(*engine.model), engine.second ? weights_hash(*engine.second) : std::string()};
}

void take_recipe(Arguments& a, const fs::path& file, const View* view) {
  Recipe recipe = read_recipe(file);
  if (!recipe.unknown.empty())
    throw model::RunError(system::text_of(file) + ": it was made with the option " +
                          model::quote(recipe.unknown.front()) + " (by headscope " +
                          model::quote(recipe.program) + "), which this version does not have");
  const bool of_window = recipe.figure && recipe.figure->window;
  a.session = std::move(recipe.session);
  if (recipe.figure && of_window == (view == nullptr)) a.figure = *recipe.figure;
  if (view != nullptr) {
    a.session.view = view->id, a.session.options = options_of(*view, a.session.options);
    std::erase_if(a.session.edits, [](const std::string& edit) { return edit.starts_with(kOff); });
  }
  a.model.patterns = !a.session.attention.empty();
  a.model.name = a.model.patterns ? a.session.attention : a.session.model;
  a.model.by_name = true;
  if (!a.model.patterns) a.prompt.from = PromptArguments::From::given;
}

void find_subject(Arguments& a, const fs::path& file) {
  const std::vector<fs::path> places{fs::absolute(file).parent_path(), fs::current_path()};
  const auto found = [&](const std::string& name, const std::string& weights, const char* option) {
    if (auto there = attention_named(name, weights, places)) return *there;
    throw model::LoadError(system::text_of(file) + ": it was made from the attention patterns in " +
                           model::quote(name) +
                           ", found neither next to it nor in this folder; give the file with " + option);
  };
  if (a.model.patterns && a.model.by_name)
    a.model.name = system::text_of(found(a.session.attention, a.session.weights, "--attention"));
  Session& s = a.session;
  if (!a.model.patterns) {
    if (s.second_model.empty()) return;
    if (a.second_model) return s.second_weights.clear();  // any will do
    const auto cache = hugging_face_cache(process_environment());
    const auto models = cache ? discover_models(*cache) : std::vector<DiscoveredModel>{};
    const auto folder = model_near(s.second_model, s.second_weights, models, places);
    a.second_model = folder && folder != model_named(s.second_model, models)
                         ? ModelArguments{.name = system::text_of(*folder)}
                         : ModelArguments{.name = s.second_model, .by_name = true};
    return;
  }
  if (!a.second_attention.empty()) {
    s.second_attention = system::text_of(a.second_attention.filename());
  } else if (s.second_on && !s.second_attention.empty()) {
    a.second_attention = found(s.second_attention, s.second_weights, "--second-attention");
    if (!s.second_weights.empty() && weights_hash(a.second_attention) != s.second_weights)
      throw model::RunError(
          "the file " + model::quote(system::text_of(a.second_attention)) +
          " has different weights from the one the figure compared with; --second-attention accepts "
          "a file with any weights");
  }
}

void require_weights(const Arguments& a, const WeightHashes& found) {
  const auto check = [](const std::string& expected, const std::string& there, const std::string& subject,
                        const std::string& option) {
    if (expected.empty() || expected == there) return;
    throw model::RunError(subject + " has different weights from those the figure was made with: expected " +
                          model::quote(expected) + ", found " + model::quote(there) + "; " + option +
                          " accepts any weights");
  };
  if (a.model.by_name)
    check(a.session.weights, found.model,
          (a.model.patterns ? "the file " : "the model ") + model::quote(*a.model.name),
          a.model.patterns ? "--attention" : "--model");
  if (const std::string& second = a.session.second_model; !second.empty())
    check(a.session.second_weights, found.second, "the second model " + model::quote(second),
          "--second-model");
}

Recipe recipe_of(const Arguments& a, const View& view, const Options& options, const PromptRun& run,
                 const WeightHashes& weights) {
  Session s = a.session;
  s.options = options;
  s.model = run.model->name, s.weights = weights.model, s.second_weights = weights.second;
  s.adds_start_token = has_start_token(*run.model, std::nullopt);
  s.attention.clear(), s.second_attention.clear(), s.second_model.clear();
  if (run.model->patterns) {
    s.second.reset();
    s.attention = system::text_of(run.model->patterns->path().filename());
    s.second_attention = system::text_of(a.second_attention.filename());
  } else if (run.second_model) {
    s.second_model = run.second_model->name;
  }
  s.prompt = {run.prompt.text, run.prompt.ids, run.tokens.has_start_token};
  if (run.prompt.plain) {  // which a text in a recipe is not
    s.prompt.ids = run.tokens.ids();
    if (run.tokens.has_start_token) s.prompt.ids.erase(s.prompt.ids.begin());
  }
  s.edits.clear();
  for (const model::Edit& edit : run.prompt.edits) s.edits.push_back(edit_text(edit));
  return {figure_part(std::move(s), view), a.figure};
}

void write_recipe(const std::filesystem::path& file, bool json, std::ostream& out) {
  const Recipe recipe = read_recipe(file);
  auto fields = nlohmann::ordered_json::parse(to_json(recipe));
  fields["program"] = utf8_or_replacement(recipe.program);
  if (json) {
    out << json_line(fields) << '\n';
    return;
  }
  if (const auto& list = recipe.session.prompts) fields["over-lines"] = list->prompts.size();  // how many
  for (const auto& [name, value] : fields.items())
    for (const nlohmann::json one : name == "edit" ? value : nlohmann::ordered_json::array({value})) {
      const std::string text = bytes_from_json(one).value_or(one.dump());
      out << format("%-14s %s\n", name.c_str(), (name == "command" ? text : viz::visible(text)).c_str());
    }
}

}  // namespace headscope::app
