#pragma once
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "app/cli/arguments/arguments.h"
#include "app/cli/program.h"

namespace headscope::app {

/// What needs no work: help and version (status 0, for standard output), a wrong use (status 2) or a value
/// that nothing could fulfil (status 1); those two are one sentence for standard error.
struct Reply {
  std::string text;
  int status = 0;
};

/// What a command was asked for, and what does it. `run` gives the exit status; it throws model::LoadError,
/// model::RunError, std::runtime_error (one sentence each), StreamError or Interrupted.
struct Task {
  std::string command;  ///< its name; empty: the window
  std::shared_ptr<Arguments> arguments;
  std::function<int(const Streams&)> run;
};

using Command = std::variant<Reply, Task>;

/// The arguments of this command; null where it is another one.
template <class Wanted>
Wanted* command_arguments(const Command& command) {
  const auto* task = std::get_if<Task>(&command);
  return task == nullptr ? nullptr : dynamic_cast<Wanted*>(task->arguments.get());
}

/// The arguments after the program's name, any bytes. What they do not say is as `start` has it. Pure: looks
/// at nothing else, never throws for what a user can type.
Command parse_command_line(const std::vector<std::string>& arguments, const Arguments& start = {});

/// Says the reply, or does what is asked for. The exit status.
int run(const Command& command, const Streams& streams);

}  // namespace headscope::app
