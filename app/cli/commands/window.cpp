#include "app/cli/arguments/command_syntax.h"
#include "app/cli/commands/engine.h"
#include "app/cli/commands/own_arguments.h"
#include "app/cli/commands/recipes.h"
#include "app/recipe/settings.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/paths.h"
#include "app/window/sessions.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

/// The folder of a model of that name which the window had open before.
std::optional<std::filesystem::path> opened_lately(const std::string& name) {
  const auto folder = config_folder(process_environment());
  if (!folder) return std::nullopt;
  std::vector<DiscoveredModel> models;
  std::error_code error;
  for (const std::filesystem::path& model : load_settings(*folder / kSettingsFile).settings.recent_models)
    if (!may_hold_patterns(model) && std::filesystem::exists(model, error))
      models.push_back({model_name(model), model});
  return model_named(name, models);
}

int open_window(const WindowCommand& command, const Streams& streams) {
  const auto options = [&](const ModelArguments& model, const PromptArguments& prompt,
                           const ComparisonArguments& comparison) {
    WindowOptions made = window_options(model, prompt, comparison, command.tour, command.over_list, streams);
    const auto whole = [](const std::filesystem::path& path) {  // the next start is in another folder
      return path.empty() ? path : std::filesystem::absolute(path).lexically_normal();
    };
    made.model = whole(made.model);
    made.second_model = whole(made.second_model);
    if (made.second_is_file) made.second = whole(*made.second).string();
    return made;
  };
  if (command.file.empty()) return run_window(options(command.model, command.prompt, command.comparison));
  ModelArguments model = command.model;
  if (may_hold_patterns(command.file)) {
    model.model = command.file.string(), model.patterns = true;
    return run_window(options(model, command.prompt, command.comparison));
  }
  Recipe recipe = read_recipe(command.file);
  ComparisonArguments comparison = command.comparison;
  PromptArguments prompt = command.prompt;
  find_subject(recipe.session, command.file, model, comparison.second_attention, prompt.edits.second_model);
  for (ModelArguments* named : {&model, prompt.edits.second_model ? &*prompt.edits.second_model : nullptr})
    if (named != nullptr && named->by_name)
      if (const auto folder = opened_lately(*named->model))
        named->model = folder->string(), named->by_name = false;
  if (prompt.edits.second_model && prompt.edits.second_model->by_name) try {
      static_cast<void>(model_folder(*prompt.edits.second_model));
    } catch (const model::LoadError&) {  // the window says so, and shows the rest
      prompt.edits.second_model.reset();
    }
  WindowOptions with_session = options(model, prompt, comparison);
  with_session.session = std::move(recipe);
  with_session.session_file = std::filesystem::absolute(command.file);
  return run_window(with_session);
}

void check_window(WindowCommand& window) {
  const std::filesystem::path& file = window.file;
  if (!file.empty() && !window.prompt_options.empty())
    throw WrongUse("a session brings its prompt: " + window.prompt_options[0] + " was given beside " +
                   model::quote(file.string()));
  if (file.extension() == ".safetensors" && window.model.patterns)
    throw WrongUse("two files of attention: --attention was given beside " + model::quote(file.string()));
  if (window.model.patterns || (file.empty() && !window.comparison.second_attention.empty()))
    require_prompt_or_attention(window);
}

}  // namespace

Finish describe_window(CommandSyntax& program) {
  const auto own = std::make_shared<WindowCommand>();
  program.computing();
  program.prompt(false);
  program.attention(true);
  program.comparison();
  program.tour();
  program.over();
  program.word("FILE",
               "a session (*.headscope), a figure that headscope made, or attention\npatterns "
               "(*.safetensors): the window shows it",
               own->file, [](const std::string&, const std::string& text) {
                 const std::filesystem::path path(text);
                 if (!path.has_extension() && !path.has_parent_path())
                   throw WrongUse("there is no command " + model::quote(text));
                 return path;
               });
  return program.finish(own, check_window, open_window);
}

}  // namespace headscope::app
