#pragma once
#include <span>
#include <string_view>

#include "app/cli/arguments/command_syntax.h"

namespace headscope::app {

/// A command of the command line. `describe` adds its options and says what makes the command of them.
struct CommandRow {
  std::string_view name;
  std::string_view help;  ///< one line
  Finish (*describe)(CommandSyntax& command);
  std::string_view choice = {};  ///< what may be named after the command's name: "view"; empty: nothing
};

/// All of them, as the help lists them. A new command is a file of this folder and a row.
std::span<const CommandRow> command_rows();

/// Without a command.
Finish describe_window(CommandSyntax& program);

}  // namespace headscope::app
