#pragma once
#include <nlohmann/json.hpp>

#include "app/cli/command_line.h"
#include "tests/support/matchers.h"

// Runs command lines in this process, and checks how they end.
namespace headscope::testing {

using Words = std::vector<std::string>;
using Json = nlohmann::ordered_json;
Words operator+(Words a, const Words& b);

/// What arguments fill.
app::Arguments parsed(const Words& arguments);

/// A run that has ended.
struct Ran {
  int status = 0;
  std::string out, err;
};
Ran run_command(const Words& arguments, const std::string& input = "", bool terminal = false);
/// The output of a run that succeeds without messages.
std::string succeed(const Words& arguments, const std::string& input = "");
/// What it writes with --json.
Json answer_of(const Words& arguments, const std::string& input = "");
/// The sentence of a run that fails without output.
std::string fail(const Words& arguments, int status = 1, const std::string& input = "");

std::vector<std::string> lines_of(const std::string& text);

}  // namespace headscope::testing
