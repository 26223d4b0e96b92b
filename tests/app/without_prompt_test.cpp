// Views of the weights alone ask for no prompt.

#include "app/cli/commands/figure.h"
#include "tests/app/command_runs.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::without_prompt_test {
namespace {

using testing::Words;

const Words kModel{"--model", testing::kBundledModel.string()};

TEST(WithoutPrompt, ViewsOfTheWeightsAreDrawn) {
  for (const View& view : views()) {
    const Words plot = Words{"plot", std::string(view.id), "--out", "x.svg"};
    const ParsedCommand command = parse_command_line(plot);
    EXPECT_EQ(std::holds_alternative<Task>(command), needs_no_prompt(view, Options{})) << view.id;
  }
  for (const char* id : {"parameters", "cosines", "staircase", "shift", "positions", "composition"}) {
    ASSERT_NE(find_view(id), nullptr) << id;
    EXPECT_TRUE(needs_no_prompt(*find_view(id), Options{})) << id;
  }
  EXPECT_THAT(testing::wrong_use({"plot", "parameters", "heatmap", "--out", "{view}.svg"}),
              HasSubstr("a prompt is missing"));
}

TEST(WithoutPrompt, OptionsDecideWhereTheyCan) {
  const Words metrics{"plot", "metrics", "--out", "x.svg"};
  EXPECT_THAT(testing::wrong_use(metrics), HasSubstr("a prompt is missing"));
  const auto repeated =
      testing::parsed<PlotCommand>(testing::operator+(metrics, {"--metrics-text", "repeated"}));
  EXPECT_EQ(repeated.prompt.from, PromptArguments::From::text);
  // The OV circuit is that of a token, the strongest pairs are of all tokens.
  const Words circuits{"plot", "circuits", "--out", "x.svg"};
  EXPECT_THAT(testing::wrong_use(circuits), HasSubstr("a prompt is missing"));
  testing::parsed<PlotCommand>(testing::operator+(circuits, {"--circuit", "pairs"}));
}

/// So that a prompt would be in vain: whatever it is, they draw the same.
TEST(WithoutPrompt, APromptChangesNothing) {
  for (const View& view : views()) {
    if (!needs_no_prompt(view, Options{})) continue;
    const auto drawn = [&](const Words& prompt) {
      return testing::succeed(testing::operator+(
          testing::operator+
          ({"plot", std::string(view.id), "--no-recipe", "--out", "-", "--format", "csv"}, kModel),
          prompt));
    };
    EXPECT_EQ(drawn({}), drawn({"--prompt", "The old king had a dog"})) << view.id;
  }
}

}  // namespace
}  // namespace headscope::app::without_prompt_test
