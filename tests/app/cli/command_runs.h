#pragma once
#include <nlohmann/json.hpp>

#include "app/cli/command_line.h"
#include "app/recipe/recipe.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

// Runs command lines in this process, and checks how they end.
namespace headscope::testing {

using Words = std::vector<std::string>;
using Json = nlohmann::ordered_json;
Words operator+(Words a, const Words& b);
/// The words of a line.
Words split_words(const std::string& line);

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

std::vector<std::string> lines_written(const std::string& text);

/// Figures in a folder of their own.
class FigureFiles : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string bytes(const std::string& name) const { return bytes_of_file(path(name)); }
  app::Recipe recipe(const std::string& name) const { return app::read_recipe(path(name)); }
  /// Runs a command and returns the bytes of the file that it writes.
  std::string made(const Words& arguments, const std::string& name) const {
    succeed(arguments + Words{"--out", path(name)});
    return bytes(name);
  }
  TemporaryFolder folder_;
};

}  // namespace headscope::testing
