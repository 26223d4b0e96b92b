#pragma once
#include "app/cli/arguments/command.h"
#include "tests/support/matchers.h"

// Runs command lines and checks the results.
namespace headscope::testing {

using Words = std::vector<std::string>;
Words operator+(Words a, const Words& b);

/// Parses valid arguments into the command that they name.
template <class Wanted>
Wanted parsed(const Words& arguments) {
  const app::ParsedCommand command = app::parse_command_line(arguments);
  if (const auto* answer = std::get_if<app::CommandReply>(&command)) {
    ADD_FAILURE() << answer->status << ": " << answer->text;
    return {};
  }
  const std::string& name = std::get<app::Task>(command).command;
  EXPECT_TRUE(name.empty() || std::ranges::count(arguments, name) > 0) << name;
  const auto* wanted = app::command_arguments<Wanted>(command);
  if (wanted == nullptr) ADD_FAILURE() << "parsed as " << name;
  return wanted == nullptr ? Wanted() : *wanted;
}

/// The reply to arguments that run no command: help or an error.
app::CommandReply answered(const Words& arguments);
/// The one-line error about invalid arguments.
std::string wrong_use(const Words& arguments);

/// The result of running the program.
struct Ran {
  int status = 0;
  std::string out, err;
};
Ran run_command(const Words& arguments, const std::string& input = "", bool terminal = false);
/// The output of a run that succeeds without messages.
std::string succeed(const Words& arguments, const std::string& input = "");
/// The one-line error of a run that fails without output.
std::string fail(const Words& arguments, int status = 1);

std::vector<std::string> lines_of(const std::string& text);

}  // namespace headscope::testing
