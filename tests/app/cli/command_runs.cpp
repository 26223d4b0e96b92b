#include "tests/app/cli/command_runs.h"

#include <iterator>
#include <sstream>

#include "app/ascii.h"
#include "app/cli/program.h"
#include "app/run/kept_models.h"

namespace headscope::testing {

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Words split_words(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

app::Arguments parsed(const Words& arguments) {
  const auto command = app::parse_command_line(arguments);
  if (const auto* task = std::get_if<app::Task>(&command)) return *task->arguments;
  ADD_FAILURE() << "no command, but " << std::get<std::string>(command);
  return app::Arguments(nullptr);
}

Ran run_command(const Words& arguments, const std::string& input, bool terminal) {
  // Loading the bundled model takes longer than most of what is asked of it.
  static const auto models = std::make_shared<app::KeptModels>(std::size_t{256} << 20);
  std::istringstream in(input);
  std::ostringstream out, err;
  const int status = app::run_program(arguments, {in, out, err, terminal, false}, models);
  return {status, out.str(), err.str()};
}

std::string succeed(const Words& arguments, const std::string& input) {
  const Ran ran = run_command(arguments, input);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  return ran.out;
}

Json answer_of(const Words& arguments, const std::string& input) {
  return Json::parse(succeed(arguments + Words{"--json"}, input));
}

std::string fail(const Words& arguments, int status, const std::string& input) {
  const Ran ran = run_command(arguments, input);
  EXPECT_EQ(ran.status, status) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  return ran.err;
}

std::vector<std::string> lines_written(const std::string& text) {
  const auto lines = app::lines_of(text);
  return {lines.begin(), lines.end()};
}

}  // namespace headscope::testing
