// Compiles and runs the examples of CONTRIBUTING.md and checks that the page quotes them exactly.

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <fstream>
#include <regex>
#include <sstream>

#include "app/cli/arguments/command_syntax.h"
#include "app/tour/tour.h"
#include "tests/app/view_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/source_folders.h"

namespace headscope::app {
View reach_view();                              // reach.cpp
Finish describe_count(CommandSyntax& command);  // count.cpp
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

TEST(Contributing, TheCommandOnThePageCountsTokens) {
  ASSERT_EQ(blocks("cpp").size(), 3U);
  EXPECT_EQ(blocks("cpp")[2], text_of("tests/contributing/count.cpp"));
  const auto counted = [](const std::string& arguments) {
    CLI::App program;
    CommandSyntax command(*program.add_subcommand("count"), std::make_shared<Arguments>(), nullptr);
    const Finish finish = describe_count(command);
    program.parse("count --prompt \"Once upon a time\" " + arguments);
    std::istringstream in;
    std::ostringstream out, err;
    EXPECT_EQ(run(finish(), {in, out, err}), 0) << err.str();
    return out.str();
  };
  EXPECT_EQ(counted(""), "4\n");
  EXPECT_EQ(counted("--longer 3"), "4\n");
  EXPECT_EQ(counted("--longer 4"), "");
  EXPECT_THROW(counted("--longer x"), UsageError);
}

TEST(Contributing, TheViewHasABarForEachQuery) {
  const Scenario scenario(kRobot);
  const View view = reach_view();
  const ViewContext context = scenario.context(600, 400, viz::light_theme());
  const Picture picture = view.build(context);
  EXPECT_TRUE(picture.whole);
  ASSERT_EQ(std::ssize(picture.regions), scenario.length());
}

TEST(Contributing, TheViewWaitsForItsAnswer) {
  const Scenario scenario(kRobot);
  NoAnswers nobody;
  ViewContext context = scenario.context(600, 400, viz::dark_theme());
  context.answers = &nobody;
  EXPECT_GT(reach_view().build(context).scene.items.size(), 0U);
  EXPECT_GT(nobody.asked, 0);
}

TEST(Contributing, TheTourOnThePageCanBeWalked) {
  const std::vector<std::string> tours = blocks("tour");
  ASSERT_EQ(tours.size(), 1U);
  const Tour tour = parse_tour(tours[0], "CONTRIBUTING.md");
  ASSERT_EQ(tour.stops.size(), 2U);
  EXPECT_EQ(resolve_stop(tour, 1).head, 5);
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
