// Compiles and runs the examples of CONTRIBUTING.md and checks that the page quotes them exactly.

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "app/cli/command_line.h"
#include "app/tour/tour.h"
#include "tests/app/view_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/source_folders.h"

namespace headscope::app::reach {
View view();  // reach.cpp
}
namespace headscope::app {
Run describe_count(CLI::App& app, const std::shared_ptr<Arguments>& arguments);  // count.cpp
}  // namespace headscope::app

namespace headscope::app::contributing_test {

namespace {

using namespace headscope::app::testing;

std::string text_of(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(headscope::testing::source_dir() / name).rdbuf();
  return text.str();
}

/// The code blocks in that language on the page, in order.
std::vector<std::string> blocks(const std::string& language) {
  const std::string page = text_of("CONTRIBUTING.md"), begin = "\n```" + language + "\n";
  std::vector<std::string> found;
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at)) {
    at += begin.size();
    const std::size_t end = page.find("\n```\n", at);
    if (end == std::string::npos) break;
    found.push_back(page.substr(at, end + 1 - at));
    at = end;
  }
  return found;
}

TEST(Contributing, TheViewOnThePageIsTheOneThatIsTested) {
  const std::vector<std::string> code = blocks("cpp");
  ASSERT_EQ(code.size(), 3U);
  EXPECT_EQ(code[0] + "\n" + code[1], text_of("tests/contributing/reach.cpp"));
}

/// What a command prints.
template <class Describe>
std::string printed(const Describe& describe, const std::string& arguments, const std::string& input = "") {
  CLI::App program;
  const auto filled = std::make_shared<Arguments>(nullptr);
  const Run run = describe(program, filled);
  program.parse(arguments);
  std::istringstream in(input);
  std::ostringstream out, err;
  EXPECT_EQ(run({in, out, err}), 0) << err.str();
  return out.str();
}

TEST(Contributing, TheCommandOnThePageCountsTokens) {
  ASSERT_EQ(blocks("cpp").size(), 3U);
  EXPECT_EQ(blocks("cpp")[2], text_of("tests/contributing/count.cpp"));
  const auto counted = [](const std::string& arguments) {
    return printed(describe_count, "--prompt \"Once upon a time\" " + arguments);
  };
  EXPECT_EQ(counted(""), "4\n");
  EXPECT_EQ(counted("--longer 3"), "4\n");
  EXPECT_EQ(counted("--longer 4"), "");
  EXPECT_THROW(counted("--longer x"), CLI::ParseError);
}

TEST(Contributing, TheViewIsACommandAndHasMeans) {
  const View view = reach::view();
  const auto answer = [&view](const std::string& arguments, const std::string& input = "") {
    const auto describe = [&view](CLI::App& app, const auto& a) { return describe_view(app, a, view); };
    return nlohmann::json::parse(printed(describe, arguments + " --json", input));
  };
  const nlohmann::json one = answer("--prompt \"Once upon a time\"");
  EXPECT_EQ(one["columns"]["query"], nlohmann::json({0, 1, 2, 3}));
  EXPECT_EQ(one["units"]["tokens back"], "tokens");
  const nlohmann::json mean = answer("--prompts - --mean", "\"Once upon a time\"\n\"Once upon\"\n");
  EXPECT_EQ(mean["columns"]["tokens back count"], nlohmann::json({2, 2, 1, 1}));
}

TEST(Contributing, TheViewHasABarForEachQuery) {
  const Scenario scenario(kRobot);
  const View view = reach::view();
  const ViewContext context = scenario.context(600, 1600, viz::light_theme());
  const Picture picture = view.build(context);
  EXPECT_TRUE(picture.whole);
  ASSERT_EQ(std::ssize(picture.regions), scenario.length());
}

TEST(Contributing, TheTourOnThePageCanBeWalked) {
  const std::vector<std::string> tours = blocks("tour");
  ASSERT_EQ(tours.size(), 1U);
  const Tour tour = parse_tour(tours[0], "CONTRIBUTING.md");
  ASSERT_EQ(tour.stops.size(), 2U);
  EXPECT_EQ(resolve_stop(tour, 1).head, 6);
  EXPECT_EQ(tour.stops[1].wait, find_wait("head"));
}

TEST(Contributing, TheFilesThatThePageNamesAreThere) {
  const std::string page = text_of("CONTRIBUTING.md");
  static const std::regex path("`((?:app|assets|model|tests|viz)/[\\w/.]+)`");
  int count = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), path), end; it != end; ++it, ++count)
    EXPECT_TRUE(std::filesystem::exists(headscope::testing::source_dir() / (*it)[1].str())) << (*it)[1];
  EXPECT_GT(count, 10);
}

}  // namespace
}  // namespace headscope::app::contributing_test
