#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/arguments/words.h"

namespace headscope::app {

/// A command of the command line. `describe` adds its options and says what makes the command of them; what
/// it gives keeps what these options write to, and refers to `given`.
struct CommandRow {
  std::string_view name;
  std::string_view help;  ///< one line
  Finish (*describe)(CommandSyntax& command, Given& given);
  std::string_view choice = {};  ///< what may be named after the command's name: "view"; empty: nothing
};

/// All of them, as the help lists them. A new command is a function here, in a file of its subject, and a
/// row.
std::span<const CommandRow> command_rows();

// cli.cpp
/// Every command with its options.
CommandTree whole_program();

// model.cpp
Finish describe_get(CommandSyntax& command, Given& given);
Finish describe_info(CommandSyntax& command, Given& given);
Finish describe_views(CommandSyntax& command, Given& given);
Finish describe_bench(CommandSyntax& command, Given& given);

// reading.cpp
Finish describe_tokens(CommandSyntax& command, Given& given);
Finish describe_predict(CommandSyntax& command, Given& given);
Finish describe_lens(CommandSyntax& command, Given& given);
Finish describe_attribute(CommandSyntax& command, Given& given);
Finish describe_generate(CommandSyntax& command, Given& given);
Finish describe_trace(CommandSyntax& command, Given& given);

// heads.cpp
Finish describe_metrics(CommandSyntax& command, Given& given);
Finish describe_search(CommandSyntax& command, Given& given);

// pictures.cpp
Finish describe_sweep(CommandSyntax& command, Given& given);
Finish describe_plot(CommandSyntax& command, Given& given);
Finish describe_shot(CommandSyntax& command, Given& given);

// installation.cpp
Finish describe_doctor(CommandSyntax& command, Given& given);
Finish describe_completion(CommandSyntax& command, Given& given);
Finish describe_manual(CommandSyntax& command, Given& given);

// recipes.cpp
/// `plot` or `shot` with a recipe in a file; nothing where it is something else, or help is asked for.
std::optional<Command> recipe_command(const std::vector<std::string>& arguments);
/// The arguments of the command that the recipe makes, whose first word is the command's name, after those of
/// `given` that say otherwise. `given` has no command's name; of a view that it names those of the recipe's
/// options stay that the view has.
std::vector<std::string> with_given(const Recipe& recipe, std::span<const Word> given);

}  // namespace headscope::app
