#include "tests/app/command_runs.h"

#include "app/cli/program.h"
#include "app/run/kept_models.h"

namespace headscope::testing {

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

app::CommandReply answered(const Words& arguments) {
  const app::ParsedCommand command = app::parse_command_line(arguments);
  if (const auto* answer = std::get_if<app::CommandReply>(&command)) return *answer;
  ADD_FAILURE() << "parsed as " << std::get<app::Task>(command).command;
  return {};
}

std::string wrong_use(const Words& arguments) {
  const app::CommandReply answer = answered(arguments);
  EXPECT_EQ(answer.status, 2) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr("--help"));
  EXPECT_THAT(answer.text, Each(Not('\n')));
  return answer.text;
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

std::string fail(const Words& arguments, int status) {
  const Ran ran = run_command(arguments);
  EXPECT_EQ(ran.status, status);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  return ran.err;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);  // CSV has both
  return lines;
}

}  // namespace headscope::testing
