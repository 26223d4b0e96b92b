#pragma once
#include <span>
#include <string_view>

#include "app/cli/arguments/command_syntax.h"

namespace headscope::app {

/// A command. `describe` describes its options and returns the function that makes the command.
struct CommandRow {
  std::string_view name;
  std::string_view help;  ///< one line
  Finish (*describe)(CommandSyntax& command);
  std::string_view choice = {};  ///< what may follow the command's name: "view"; empty: nothing
};

/// All commands, in the order of the help. A new command is a file in this folder and a row.
std::span<const CommandRow> command_rows();

/// The program without a command.
Finish describe_window(CommandSyntax& program);

}  // namespace headscope::app
