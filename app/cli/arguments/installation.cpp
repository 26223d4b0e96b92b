#include "app/cli/arguments/argument_values.h"
#include "app/cli/arguments/commands.h"
#include "app/cli/arguments/completions.h"
#include "app/cli/arguments/manual.h"
#include "app/run/version.h"

namespace headscope::app {

Finish describe_doctor(CommandSyntax& command, Given& given) {
  command.json();
  command.footer(
      "Exit status: 0 headscope works here, 1 something is broken: there is no font, no bundled model, or a\n"
      "display without OpenGL 3.3. What is merely lacking does not count.");
  return [&given] { return DoctorCommand{given.json}; };
}

Finish describe_completion(CommandSyntax& command, Given& given) {
  command.choice("bash", "for ~/.local/share/bash-completion/completions/headscope");
  command.choice("zsh", "for a file _headscope in a folder of $fpath");
  command.choice("fish", "for ~/.config/fish/completions/headscope.fish");
  command.footer("For this shell alone, as in bash: source <(headscope completion bash)");
  return [&given] {
    require_at_most_one(given.choices);
    if (given.choices.empty()) throw WrongUse("completion needs a shell, as in headscope completion bash");
    const CommandTree program = whole_program();
    const std::string& shell = given.choices.front();
    return Reply{shell == "bash"  ? bash_completion(program)
                 : shell == "zsh" ? zsh_completion(program)
                                  : fish_completion(program),
                 0};
  };
}

Finish describe_manual(CommandSyntax& command, Given&) {
  command.footer("To read it: headscope manual | man -l -");
  return [] { return Reply{manual_page(whole_program(), version(), HEADSCOPE_DATE), 0}; };
}

}  // namespace headscope::app
