#pragma once
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "app/cli/arguments/arguments.h"
#include "app/cli/program.h"

namespace headscope::app {

/// A reply that needs no computing: help or version (status 0, for standard output), a usage error (status 2)
/// or an unusable value (status 1). Errors are one sentence for standard error.
struct CommandReply {
  std::string text;
  int status = 0;
};

/// A command to run, with its arguments. `run` returns the exit status; it throws model::LoadError,
/// model::RunError, std::runtime_error (one sentence each), StreamError or system::Interrupted.
struct Task {
  std::string command;  ///< its name; empty: the window
  std::shared_ptr<Arguments> arguments;
  bool has_json = false;  ///< it takes --json
  std::function<int(const Streams&)> run;
};

using ParsedCommand = std::variant<CommandReply, Task>;

/// The arguments as those of the given command; null if it is another command.
template <class Wanted>
Wanted* command_arguments(const ParsedCommand& command) {
  const auto* task = std::get_if<Task>(&command);
  return task == nullptr ? nullptr : dynamic_cast<Wanted*>(task->arguments.get());
}

/// Parses the arguments after the program's name, which may be any bytes. Defaults come from `start`. Pure:
/// reads nothing else, and never throws for anything a user can type.
ParsedCommand parse_command_line(const std::vector<std::string>& arguments, const Arguments& start = {});

/// Writes the reply or runs the task. Returns the exit status. Throws what the task throws, and UsageError or
/// UnusableValue for a reply that is an error.
int run(const ParsedCommand& command, const Streams& streams);

}  // namespace headscope::app
