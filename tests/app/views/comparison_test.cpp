// The sides of a comparison, and the difference.

#include "app/run/analyses/heads.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/predictions.h"
#include "app/run/edits/edit_text.h"
#include "app/views/export.h"
#include "app/views/parts/weight_colors.h"
#include "model/tokens/sampling.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::comparison_test {
namespace {

Scenario edited(const char* edits = "L1.attn_out=0", const std::string& text = kRobot) {
  return testing::edited(edits, {2, 1, -1}, text);
}

std::string csv(const View& view, const ViewContext& context) {
  return export_bytes(FileFormat::csv, view, context, {});
}

TEST(Comparison, TheBaselineSideOfEveryViewIsItsPictureWithoutEdits) {
  const Scenario scenario = edited();
  Scenario clean(kRobot);
  for (const View& view : views()) {
    SCOPED_TRACE(view.id);
    ViewContext other = on_side(Side::baseline, view, scenario.context(800, 600));
    EXPECT_EQ(other.side, Side::baseline);
    EXPECT_EQ(other.run, scenario.run->baseline);
    const ViewContext alone = clean.context(800, 600);
    const viz::Picture there = view.build(other), expected = view.build(alone);
    // Both sides of a flow have the scale that fits both, which decides on what has room.
    EXPECT_TRUE(there.scene.items.size() == expected.scene.items.size() || view.id == "flow");
    EXPECT_EQ(csv(view, other), csv(view, alone));
    EXPECT_EQ(caption(view, other), caption(view, alone));
  }
}

TEST(Comparison, AViewWithoutDifferencesShowsTheRun) {
  const Scenario scenario = edited();
  for (const View& view : views()) {
    SCOPED_TRACE(view.id);
    const ViewContext alone = scenario.context(800, 600), c = on_side(Side::difference, view, alone);
    const bool of_model = view.of_model != nullptr && view.of_model(alone);
    EXPECT_EQ(c.side, view.shows_difference && !of_model ? Side::difference : Side::run);
    EXPECT_FALSE(view.build(c).scene.items.empty());
  }
  const Scenario alone(kRobot);
  const ViewContext c = on_side(Side::baseline, views().front(), alone.context(800, 600));
  EXPECT_EQ(c.side, Side::run) << "nothing to compare with";
}

TEST(Comparison, TokensOfTwoPromptsAreMatched) {
  const Scenario scenario = of_two();
  EXPECT_EQ(scenario.run->aligned, (std::vector<int>{0, 2, 3, 4, -1, 5}));
  ViewContext c = on(Side::difference, "heatmap", scenario, 800, 600);
  const auto difference = c.ask(PatternOf{2, 1});
  EXPECT_FALSE(difference->masked(3, 2));
  EXPECT_TRUE(difference->masked(4, 2)) << "“ a” has nothing that stands for it";
  EXPECT_TRUE(difference->masked(5, 4));
  const PromptRun& other = *scenario.run->baseline;
  std::vector<float> there(36);
  other.model->transformer->pattern(*other.run, 2, 1, there);
  EXPECT_EQ(difference->matrix().at(5, 1), scenario.weight(5, 1) - there[5 * 6 + 2]);
  // The selection moves to its counterpart in the other prompt.
  Scenario at_had = of_two();
  at_had.select({2, 1, 3, 1});
  c = on(Side::baseline, "query", at_had, 800, 600);
  EXPECT_EQ(c.selection.query, 4);
  EXPECT_EQ(c.selection.key, 2);
}

TEST(Comparison, SmallMapsShowTheLargestDifferenceUnderEachCell) {
  Scenario scenario = [] {
    PromptTokens tokens = tokenize(*bundled(), Prompt{long_text(), {}, false});
    Scenario made(
        Prompt{long_text().substr(0, tokens.tokens[99].end), {}, false, parse_edits("L0H3.z=0", *bundled())});
    made.compare();
    return made;
  }();
  ASSERT_EQ(scenario.length(), 100);
  const auto maps = scenario.ask_difference(ThumbnailsOfHeads{});
  const ViewContext c = on(Side::difference, "heatmap", scenario, 800, 600);
  const int heads = scenario.config().n_head;
  for (const auto& [layer, head] : {std::pair{0, 3}, {1, 0}, {3, 2}}) {
    const auto difference = c.ask(PatternOf{layer, head});
    const Thumbnail& map = *maps->of_head[layer * heads + head];
    ASSERT_EQ(map.rows, Thumbnail::kMax);
    std::vector<float> expected(static_cast<std::size_t>(map.rows * map.cols));
    std::vector<bool> either(expected.size());  // for ties
    for (int query = 0; query < 100; ++query)
      for (int key = 0; key <= query; ++key) {
        const auto at = static_cast<std::size_t>(query * 64 / 100 * 64 + key * 64 / 100);
        const float value = difference->matrix().at(query, key);
        if (value == -expected[at]) either[at] = true;
        if (std::abs(value) <= std::abs(expected[at])) continue;
        expected[at] = value;
        either[at] = false;
      }
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(either[i] ? std::abs(map.values[i]) : map.values[i],
                either[i] ? std::abs(expected[i]) : expected[i])
          << layer << "." << head << " " << i;
    EXPECT_EQ(map.range.magnitude() > 0, layer > 0) << "what comes before the change stays as it was";
  }
}

TEST(Comparison, TheNextTokenHasTheLargestDifferenceFirst) {
  const Scenario scenario = edited(), clean(kRobot);
  const auto probabilities = [](const Scenario& of) {
    const auto answer = of.ask(NextAfter{of.selection.query});
    std::vector<double> result(answer->logits.size());
    model::softmax(answer->logits, 1, result);
    return result;
  };
  const std::vector<double> after = probabilities(scenario), before = probabilities(clean);
  const Table table = table_of(Side::difference, "next", scenario);
  double largest = 0, kl = 0;
  for (std::size_t i = 0; i < after.size(); ++i) largest = std::max(largest, std::abs(after[i] - before[i]));
  EXPECT_NEAR(std::abs(numbers_of(table, "difference").front()), largest, 1e-15);
  for (std::size_t i = 0; i < after.size(); ++i) kl += before[i] * std::log(before[i] / after[i]);
  EXPECT_NEAR(divergence(before, after), kl, 1e-12);
  EXPECT_NEAR(fact_of(table, "KL"), bits(kl), 1e-12);
}

TEST(Comparison, WhatASingleTokenWithoutCounterpartHasIsNoDifference) {
  const Scenario alone = of_two({2, 1, 4});
  const std::string words = "4 “·a” has no counterpart in the second prompt";
  for (const char* view : {"next", "attribution", "query", "merge"}) {
    const ViewContext c = on(Side::difference, view, alone, 900, 700);
    EXPECT_THAT(texts(find_view(view)->build(c).scene), ElementsAre(words)) << view;
  }
  EXPECT_TRUE(find_view("next")->table(on(Side::difference, "next", alone)).empty());
}

TEST(Comparison, AFigureOfADifferenceHasAScaleOfItsOwn) {
  const Scenario s = edited();
  ViewContext c = on(Side::difference, "heatmap", s, 900, 700);
  const auto full = [&](bool printed) {
    c.printed = printed;
    const auto pattern = s.ask_difference(PatternOf{2, 1});
    return pattern_scale(c, pattern->matrix(), "", true, common_range(c)).scale.high;
  };
  const auto pattern = s.ask_difference(PatternOf{2, 1});
  EXPECT_FLOAT_EQ(static_cast<float>(full(true)), viz::value_range(pattern->matrix()).magnitude());
  EXPECT_GT(full(false), full(true)) << "the window has one for all heads";
}

/// The query follows the end of a prompt that is shorter than the other.
TEST(Comparison, TheSecondPromptsNextTokenIsAtTheCounterpart) {
  Scenario two("The old king had", {2, 1, 3});
  two.compare(Prompt{"The old king had a daughter", {}, false});
  ViewContext chosen = two.context(400, 600), follows = chosen;
  chosen.chosen_query = 3, follows.chosen_query = -1;
  const View& view = *find_view("next");
  const Table at_three = view.table(on_side(Side::baseline, view, chosen)),
              at_end = view.table(on_side(Side::baseline, view, follows));
  ASSERT_GT(at_three.rows(), 0U);
  EXPECT_EQ(text_rows(at_end), text_rows(at_three));
  EXPECT_EQ(view.build(on_side(Side::baseline, view, follows)).subtitle, "position 3");
}

}  // namespace
}  // namespace headscope::app::comparison_test
