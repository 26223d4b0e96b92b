#pragma once
#include <functional>
#include <string>
#include <vector>

#include "app/cli/arguments/command.h"

namespace headscope::app {

/// An option of a command, as the parser is told of it.
struct CommandOption {
  std::string name;    ///< without dashes
  std::string values;  ///< "N,L"
  std::string help;
  std::function<void(const std::string&)> set;  ///< throws WrongUse
};

/// Those of `metrics` and `search` that are of these commands alone; they write to the command, which must
/// outlive them. `--json` and the choice of the prompt are of the parser.
std::vector<CommandOption> options_of(MetricsCommand& command);
std::vector<CommandOption> options_of(SearchCommand& command);

}  // namespace headscope::app
