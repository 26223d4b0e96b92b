#pragma once
#include <string>

#include "app/cli/arguments/command_tree.h"

namespace headscope::app {

// Scripts that complete the command line of a program. They know its commands, its options and their values,
// and start nothing when a key is pressed.

std::string bash_completion(const CommandTree& program);
std::string zsh_completion(const CommandTree& program);
std::string fish_completion(const CommandTree& program);

}  // namespace headscope::app
