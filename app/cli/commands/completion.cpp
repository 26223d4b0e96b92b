#include "app/cli/arguments/command_tree.h"

#include "app/cli/arguments/command_syntax.h"

namespace headscope::app {

Finish describe_completion(CommandSyntax& command) {
  command.choice("bash", "for ~/.local/share/bash-completion/completions/headscope");
  command.choice("zsh", "for a file _headscope in a folder of $fpath");
  command.choice("fish", "for ~/.config/fish/completions/headscope.fish");
  command.footer("For the current shell only, e.g. in bash: source <(headscope completion bash)");
  return [&given = command.given()] {
    require_at_most_one(given.choices);
    if (given.choices.empty()) throw UsageError("completion needs a shell, e.g. headscope completion bash");
    const CommandTree program = whole_program();
    const std::string& shell = given.choices.front();
    return Reply{shell == "bash"  ? bash_completion(program)
                 : shell == "zsh" ? zsh_completion(program)
                                  : fish_completion(program),
                 0};
  };
}

}  // namespace headscope::app
