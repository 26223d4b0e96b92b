#include <algorithm>
#include <utility>

#include "app/cli/command_line.h"
#include "app/cli/engine.h"
#include "app/cli/recipes.h"
#include "app/desktop/folder_listing.h"
#include "app/hub/fetch.h"
#include "app/recipe/recipe.h"
#include "app/run/prompt_list.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/paths.h"
#include "app/window/core.h"
#include "model/files/error.h"
#include "system/file.h"
#include "system/path_text.h"
#include "system/picture_clipboard.h"

namespace headscope::app {
namespace {

/// The folder of a recent model with that name.
std::optional<std::filesystem::path> recent_model(const std::string& name) {
  const auto folder = config_folder(process_environment());
  if (!folder) return std::nullopt;
  std::vector<DiscoveredModel> models;
  for (const std::filesystem::path& model : load_settings(*folder / kSettingsFile).recent_models)
    if (!may_hold_patterns(model) && system::is_there(model)) models.push_back({model_name(model), model});
  return model_named(name, models);
}

/// The absolute path, which stays valid if the next start is in another folder.
std::filesystem::path absolute_path(const std::filesystem::path& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal();
}

/// The bundled model and those that are found.
std::vector<DiscoveredModel> models_on_this_machine() {
  std::vector<DiscoveredModel> models{{"tales (bundled)", bundled_model()}};
  if (const auto cache = hugging_face_cache(process_environment()))
    for (DiscoveredModel& model : discover_models(*cache)) models.push_back(std::move(model));
  return models;
}

std::filesystem::path fetch_unless_here(const HubModel& model, const FetchOptions& options) {
  const HubSettings settings = hub_settings(process_environment());
  if (const auto there = cached_model(settings.cache, model)) return *there;
  return fetch_model(model, settings, options);
}

bool may_fetch() {
  try {
    return !hub_settings(process_environment()).offline;
  } catch (const std::exception&) {
    return true;  // fetching reports the error
  }
}

/// Adds what the window remembers of its last start, among it a model unless one is named, and what it can
/// reach of this machine and the hub.
void recall(CoreOptions& core, bool names_model) {
  WindowOptions& window = core.window;
  if (const auto folder = config_folder(process_environment())) {
    core.settings_file = *folder / kSettingsFile;
    core.settings = load_settings(core.settings_file);
  }
  if (!core.settings.problem.empty()) core.problem = core.settings.problem;
  if (const auto folder = state_folder(process_environment())) core.state_folder = *folder;
  const std::filesystem::path& last = core.settings.last_model;
  const bool asked = window.prompt || window.recipe.session.second || !window.second.empty() ||
                     window.edits || !window.recipe_file.empty() || !window.tour.empty();
  const bool attention = !asked && may_hold_patterns(last) && system::is_file(last);
  if (names_model && !window.prompt && !may_hold_patterns(window.model) && last != window.model)
    core.settings.has_prompt = false;
  if (!names_model && !last.empty() && (attention || system::is_folder(last))) window.model = last;
  std::error_code error;
  core.start_folder = std::filesystem::current_path(error);
  core.offer_tours = !core.settings.has_prompt && !window.prompt && !names_model;
  core.find_models = models_on_this_machine;
  if (may_fetch()) core.fetch = fetch_unless_here;
  core.pictures = system::picture_clipboard(process_environment());
}

int open_window(Arguments& a, const std::filesystem::path& file, const Streams& streams) {
  std::optional<Recipe> session;
  if (!file.empty() && may_hold_tensors(file)) {
    a.model.name = system::text_of(file), a.model.patterns = true;
  } else if (!file.empty()) {
    session = read_recipe(file);
    const Session given = std::exchange(a.session, session->session);
    a.session.prompt = given.prompt, a.session.edits = given.edits, a.session.side = given.side;
    if (!a.model.name) {
      a.model.patterns = !a.session.attention.empty();
      a.model.name = a.model.patterns ? a.session.attention : a.session.model;
      a.model.by_name = true;
    }
    find_subject(a, file);
    session->session.second_attention = a.session.second_attention;
    session->session.second_weights = a.session.second_weights;
    std::optional<ModelArguments>& second = a.second_model;
    for (ModelArguments* named : {&a.model, second ? &*second : nullptr})
      if (named != nullptr && named->by_name)
        if (const auto folder = recent_model(*named->name))
          named->name = system::text_of(*folder), named->by_name = false;
    if (second && second->by_name) try {
        static_cast<void>(model_folder(*second));
      } catch (const model::LoadError&) {  // the window reports it and shows the rest
        second.reset();
      }
  }
  CoreOptions core = window_options(a, streams);
  WindowOptions& options = core.window;
  options.model = absolute_path(options.model);
  options.second = absolute_path(options.second);
  if (session) {
    options.recipe = *std::move(session);
    options.recipe_file = std::filesystem::absolute(file);
  }
  recall(core, a.model.name.has_value());
  return run_window(std::move(core));
}

/// The file's name. Throws UsageError for what may be a command's name in place of a file's.
std::string file_or_no_command(const std::string& name) {
  const std::filesystem::path file = system::path_of(name);
  if (file.empty() || file.has_extension() || file.has_parent_path()) return name;
  std::vector<std::pair<std::string, std::string>> commands;
  for (const CommandRow& row : command_rows()) commands.emplace_back(row.name, row.help);
  for (const KnownName& known : kKnownNames) commands.emplace_back(known.name, "");
  for (const View& view : views()) commands.emplace_back(view.id, view.help);
  if (std::ranges::any_of(commands, [&](const auto& row) { return row.first == name; }))
    throw UsageError("the command comes first: headscope " + name + " …");
  throw UsageError("unknown command " + model::quote(name) + suggestion(name, commands, "headscope --help"));
}

/// Checks the arguments; the file may be a list of prompts.
void check_window(Arguments& a, std::filesystem::path& file) {
  const std::string name = model::quote(system::text_of(file));
  if (may_hold_prompts(file)) {
    refuse({{!a.over.empty(), "one list of prompts at a time: both --over and " + name + " were given"}});
    a.over = std::exchange(file, {});
  }
  refuse({{!file.empty() && a.has_prompt(),
           "a session has its own prompt: both a prompt and " + name + " were given"},
          {may_hold_tensors(file) && a.model.patterns,
           "one file of attention patterns at a time: both --attention and " + name + " were given"}});
  if (a.model.patterns || (file.empty() && !a.second_attention.empty())) require_prompt(a, true);
}

}  // namespace

Run describe_window(CLI::App& app, const std::shared_ptr<Arguments>& a) {
  const auto file = std::make_shared<std::string>();
  add_computing(app, *a);
  add_attention(app, *a);
  add_prompt(app, *a, false);
  add_edits(app, *a, false);
  add_comparison(app, *a);
  add_tour(app, *a);
  add_over(app, *a);
  app.add_option_function<std::string>(
      "FILE", [file](const std::string& name) { *file = file_or_no_command(name); },
      "a session (*.headscope), a figure made by headscope, attention\npatterns (*.safetensors), or a "
      "list of prompts (*.jsonl, *.txt), to\nopen in the window");
  return [a, file](const Streams& streams) {
    std::filesystem::path path = system::path_of(*file);
    check_window(*a, path);
    return open_window(*a, path, streams);
  };
}

}  // namespace headscope::app
