#include "app/window/window.h"

#include <filesystem>
#include <utility>

#include "app/cli/commands/commands.h"
#include "app/cli/commands/engine.h"
#include "app/window/sessions.h"

namespace headscope::app {

int run_command(const WindowCommand& command, const Streams& streams) {
  const auto options = [&](const ModelArguments& model) {
    return window_options(model, command.prompt, command.comparison, command.tour, streams);
  };
  if (command.file.empty()) return run_window(options(command.model));
  ModelArguments model = command.model;
  if (may_hold_patterns(command.file)) {
    model.model = command.file.string(), model.patterns = true;
    return run_window(options(model));
  }
  Recipe recipe = read_recipe(command.file);
  if (!model.model) model.model = recipe.session.model.name, model.by_name = true;
  WindowOptions with_session = options(model);
  with_session.session = std::move(recipe);
  with_session.session_file = std::filesystem::absolute(command.file);
  return run_window(with_session);
}

}  // namespace headscope::app
