#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/program.h"

namespace headscope::app {

/// Runs a command, once all is parsed. Returns the exit status. Throws UsageError for arguments that do not
/// go together, model::LoadError, model::RunError, std::runtime_error (one sentence each), StreamError or
/// system::Interrupted.
using Run = std::function<int(const Streams&)>;

/// A command. `describe` adds its options, which fill `arguments`, to the parser; the app outlives the
/// result.
struct CommandRow {
  std::string_view name;
  std::string_view help;
  Run (*describe)(CLI::App& app, const std::shared_ptr<Arguments>& arguments);
};
/// What is no view. The window opens if none is named.
std::span<const CommandRow> command_rows();
Run describe_window(CLI::App& app, const std::shared_ptr<Arguments>& arguments);

/// A view as a command: its table as text or in a file, or its picture.
Run describe_view(CLI::App& app, const std::shared_ptr<Arguments>& arguments, const View& view);

/// A name that people know for a view.
struct KnownName {
  std::string_view name;
  std::string_view view;
};
inline constexpr KnownName kKnownNames[]{
    {"predict", "next"}, {"attribute", "attribution"}, {"circuit", "circuit_graph"}};

/// A command to run.
struct Task {
  std::string command;  ///< its name; empty: the window
  std::shared_ptr<CLI::App> app;
  std::shared_ptr<Arguments> arguments;
  Run run;
};

/// Parses the arguments after the program's name, which may be any bytes. Returns the text of --help or
/// --version in place of a task. Throws UsageError.
std::variant<std::string, Task> parse_command_line(const std::vector<std::string>& arguments,
                                                   const std::shared_ptr<KeptModels>& models = nullptr);

}  // namespace headscope::app
