#include <utility>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/engine.h"
#include "app/cli/commands/recipes.h"
#include "app/recipe/settings.h"
#include "app/run/prompt_list.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/paths.h"
#include "app/window/sessions.h"
#include "model/files/quote.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

/// The folder of a recent model with that name.
std::optional<std::filesystem::path> recent_model(const std::string& name) {
  const auto folder = config_folder(process_environment());
  if (!folder) return std::nullopt;
  std::vector<DiscoveredModel> models;
  for (const std::filesystem::path& model : load_settings(*folder / kSettingsFile).settings.recent_models)
    if (!may_hold_patterns(model) && system::is_there(model)) models.push_back({model_name(model), model});
  return model_named(name, models);
}

/// The absolute path, which stays valid if the next start is in another folder.
std::filesystem::path absolute_path(const std::filesystem::path& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal();
}

int open_window(WindowCommand command, const Streams& streams) {
  std::optional<Recipe> session;
  if (!command.file.empty() && may_hold_tensors(command.file)) {
    command.model.model = system::text_of(command.file), command.model.patterns = true;
  } else if (!command.file.empty()) {
    session = read_recipe(command.file);
    std::optional<ModelArguments>& second = command.prompt.edits.second_model;
    find_subject(session->session, command.file, command.model, command.comparison.second_attention, second);
    for (ModelArguments* named : {&command.model, second ? &*second : nullptr})
      if (named != nullptr && named->by_name)
        if (const auto folder = recent_model(*named->model))
          named->model = system::text_of(*folder), named->by_name = false;
    if (second && second->by_name) try {
        static_cast<void>(model_folder(*second));
      } catch (const model::LoadError&) {  // the window reports it and shows the rest
        second.reset();
      }
  }
  WindowOptions options = window_options(command, streams);
  options.model = absolute_path(options.model);
  options.second_model = absolute_path(options.second_model);
  if (options.second_is_file)
    options.second = system::text_of(absolute_path(system::path_of(*options.second)));
  if (session) options.session_file = std::filesystem::absolute(command.file);
  options.session = std::move(session);
  return run_window(options);
}

void check_window(WindowCommand& window) {
  const std::filesystem::path& file = window.file;
  if (!file.empty() && !file.has_extension() && !file.has_parent_path())
    throw UsageError("unknown command " + model::quote(system::text_of(file)));
  if (may_hold_prompts(file)) {
    if (!window.over_list.empty())
      throw UsageError("one list of prompts at a time: both --over and " +
                       model::quote(system::text_of(file)) + " were given");
    window.over_list = std::exchange(window.file, {});
  }
  if (!file.empty() && !window.prompt_options.empty())
    throw UsageError("a session has its own prompt: both " + window.prompt_options[0] + " and " +
                     model::quote(system::text_of(file)) + " were given");
  if (may_hold_tensors(file) && window.model.patterns)
    throw UsageError("one file of attention patterns at a time: both --attention and " +
                     model::quote(system::text_of(file)) + " were given");
  if (window.model.patterns || (file.empty() && !window.comparison.second_attention.empty()))
    require_prompt_or_attention(window);
}

}  // namespace

Finish describe_window(CommandSyntax& program) {
  const auto own = std::make_shared<WindowCommand>();
  program.computing();
  program.prompt(false);
  program.attention(true);
  program.comparison(false);
  program.tour();
  program.over();
  program.word(
      "FILE",
      "a session (*.headscope), a figure made by headscope, attention\npatterns (*.safetensors), or a "
      "list of prompts (*.jsonl, *.txt), to\nopen in the window",
      own->file, any_text);
  return program.finish(own, check_window, open_window);
}

}  // namespace headscope::app
