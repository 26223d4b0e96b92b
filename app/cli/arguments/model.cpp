#include <memory>

#include "app/cli/argument_values.h"
#include "app/cli/arguments/commands.h"

namespace headscope::app {

Finish describe_info(CommandSyntax& command, Given& given) {
  command.model();
  command.json();
  return [&given] { return filled(InfoCommand{}, given); };
}

Finish describe_views(CommandSyntax& command, Given& given) {
  command.json();
  return [&given] { return ViewsCommand{given.json}; };
}

Finish describe_bench(CommandSyntax& command, Given& given) {
  const auto own = std::make_shared<BenchCommand>();
  command.computing();
  command.option("tokens", "N,...",
                 "lengths of the prompts (default: 16,64,256,1024, as far as\nthe context goes)",
                 [own](const std::string& text) { own->tokens = lengths("--tokens", text); });
  command.flag("materialize", "passes that return the patterns of all heads, too", own->materialize);
  command.flag("ui", "from a keystroke or another head to the window's picture, too", own->ui);
  command.json();
  return [own, &given] { return filled(*own, given); };
}

}  // namespace headscope::app
