// The sides of a comparison, and the difference: each number is the run's minus the baseline's.
#include "app/run/analyses/heads.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/predictions.h"
#include "app/views/export.h"
#include "app/views/parts/names.h"
#include "app/views/parts/weight_colors.h"
#include "model/pass/statistics.h"
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
    EXPECT_EQ(c.side, view.shows_difference && !view.is_of_model(alone) ? Side::difference : Side::run);
    EXPECT_FALSE(view.build(c).scene.items.empty());
  }
}

TEST(Comparison, TokensOfTwoPromptsAreMatched) {
  const Scenario scenario = of_two();
  EXPECT_EQ(scenario.run->aligned, (std::vector<int>{0, 2, 3, 4, -1, 5}));
  const auto difference = on(Side::difference, "heatmap", scenario).ask(PatternOf{2, 1});
  EXPECT_FALSE(difference->masked(3, 2));
  EXPECT_TRUE(difference->masked(4, 2)) << "“ a” has nothing that stands for it";
  EXPECT_TRUE(difference->masked(5, 4));
  const PromptRun& other = *scenario.run->baseline;
  std::vector<float> there(36);
  other.model->transformer->pattern(*other.run, 2, 1, there);
  EXPECT_EQ(difference->matrix().at(5, 1), scenario.weight(5, 1) - there[5 * 6 + 2]);
}

TEST(Comparison, SmallMapsShowTheLargestDifferenceUnderEachCell) {
  const Scenario s = edited("L0H3.z=0", scenario(100).run->prompt.text);
  ASSERT_EQ(s.length(), 100);
  const auto maps = s.ask_difference(ThumbnailsOfHeads{});
  const ViewContext c = on(Side::difference, "heatmap", s, 800, 600);
  for (const auto& [layer, head] : {std::pair{0, 3}, {1, 0}, {3, 2}}) {
    const auto difference = c.ask(PatternOf{layer, head});
    const Thumbnail& map = *maps->of_head[layer * s.config().n_head + head];
    ASSERT_EQ(map.rows, Thumbnail::kMax);
    std::vector<float> lowest(static_cast<std::size_t>(map.rows * map.cols)), highest = lowest;
    for (int query = 0; query < 100; ++query)
      for (int key = 0; key <= query; ++key) {
        const auto at = static_cast<std::size_t>(query * 64 / 100 * 64 + key * 64 / 100);
        lowest[at] = std::min(lowest[at], difference->matrix().at(query, key));
        highest[at] = std::max(highest[at], difference->matrix().at(query, key));
      }
    for (std::size_t i = 0; i < lowest.size(); ++i) {
      EXPECT_TRUE(map.values[i] == lowest[i] || map.values[i] == highest[i]) << head_name(layer, head);
      EXPECT_EQ(std::abs(map.values[i]), std::max(-lowest[i], highest[i])) << head_name(layer, head);
    }
    EXPECT_EQ(map.range.magnitude() > 0, layer > 0) << "what comes before the change stays as it was";
  }
}

TEST(Comparison, TheNextTokenHasTheLargestDifferenceFirst) {
  const Scenario scenario = edited(), clean(kRobot);
  const auto probabilities = [](const Scenario& of) {
    return model::softmax(of.ask(NextAfter{of.selection.query})->logits, 1);
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

TEST(Comparison, AFigureOfADifferenceHasTheScaleOfAllHeads) {
  const Scenario s = edited();
  ViewContext c = on(Side::difference, "heatmap", s, 900, 700);
  const auto pattern = s.ask_difference(PatternOf{2, 1});
  const auto full = [&](bool printed) {
    c.printed = printed;
    return pattern_scale(c, pattern->matrix(), "", true, common_range(c)).scale.high;
  };
  EXPECT_GT(full(true), static_cast<double>(viz::value_range(pattern->matrix()).magnitude()));
  EXPECT_EQ(full(false), full(true)) << "so that it can be compared with the window";
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
  EXPECT_EQ(view.build(on_side(Side::baseline, view, follows)).title, "After 3 “·had”");
}

TEST(ViewDifference, PredictionsComparesOnlyWhereTheSameTokenFollows) {
  const Table table = table_of(Side::difference, "predictions", of_two());
  std::vector<bool> compared;
  double sum = 0;
  for (const double difference : numbers_of(table, "difference of loss")) {
    compared.push_back(!is_no_number(difference));
    if (compared.back()) sum += difference;
  }
  EXPECT_NEAR(fact_of(table, "mean difference of loss"), sum / 2, 1e-9);
  // "The" is followed by " old" in one prompt and by " very" in the other, " had" by " a" and " daughter".
  EXPECT_EQ(compared, (std::vector<bool>{false, true, true, false, false, false}));
}

TEST(ViewDifference, TheLensFollowsTheBaselinesAnswerUpTheStream) {
  const Scenario scenario = edited("L2H1.z=0"), clean(kRobot);
  const auto difference = scenario.ask_difference(LensOf{0});
  const auto lens = clean.ask(LensOf{0});
  const int end = difference->places - 1;
  for (int position = 0; position < scenario.length(); ++position) {
    SCOPED_TRACE(position);
    ASSERT_TRUE(difference->compares(position));
    EXPECT_EQ(difference->answer(position), lens->answer(position));
    for (int place = 0; place <= end; ++place) {
      const auto& before = difference->before_at(position, place).guesses;
      EXPECT_EQ(before.next_probability, lens->at(position, place).guesses.next_probability);
      if (lens_place(place).layer <= 2 && place <= 4) {
        EXPECT_EQ(difference->at(position, place).guesses.next_probability, before.next_probability)
            << "before the edit";
      }
    }
    const std::vector<double> probabilities = model::softmax(scenario.ask(NextAfter{position})->logits, 1);
    EXPECT_NEAR(difference->at(position, end).guesses.next_probability, probabilities[lens->answer(position)],
                1e-7);
  }
}

/// By the cells of the key columns, as text: the row that has them.
std::map<std::vector<std::string>, std::size_t> rows_by_key(const Table& table,
                                                            const std::vector<std::string>& keys) {
  std::map<std::vector<std::string>, std::size_t> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::vector<std::string> cells;
    for (const std::string& key : keys) {
      const Column& column = table.columns[table.at(key)];
      cells.push_back(column.has_texts() ? std::get<1>(column.cells)[row]
                                         : number_text(std::get<0>(column.cells)[row]));
    }
    rows[cells] = row;
  }
  return rows;
}

/// "score" of "difference of score" and "Δ score"; empty: it is no difference.
std::string compared_name(const std::string& name) {
  for (const std::string prefix : {"difference of ", "Δ "})
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return "";
}

TEST(ViewDifference, IsTheRunsNumberLessTheBaselinesInEveryTable) {
  Scenario scenario = edited("L0.attn_out=0");
  scenario.select({3, 2, 5, 2});
  const auto expect_difference = [](double shown, double a, double b) {
    if (!std::isfinite(a) || !std::isfinite(b)) return 0;
    EXPECT_NEAR(shown, a - b, 1e-5 * std::max({1.0, std::abs(a), std::abs(b)}));
    return 1;
  };
  int views_compared = 0;
  for (const View& view : views()) {
    if (!view.shows_difference || view.id == "score_sources") continue;  // has tests of its own
    const auto table = [&](Side side) {
      ViewContext c = on(side, view.id, scenario);
      if (view.id == "query") set(c, "strips", "breakdown");
      if (view.id == "mlp") set(c, "neurons", "200");
      if (view.id == "heatmap") set(c, "of", "mean");
      return view.table(c);
    };
    const Table now = table(Side::run), before = table(Side::baseline), difference = table(Side::difference);
    std::vector<std::string> keys;
    for (const Column& column : difference.columns)
      if (column.used_as() == Column::Use::key && std::ranges::count(headings(now), column.name) > 0)
        keys.push_back(column.name);
    const auto now_rows = rows_by_key(now, keys), before_rows = rows_by_key(before, keys);
    int compared = 0;
    for (const Column& column : difference.columns) {
      const std::string of = compared_name(column.name);
      SCOPED_TRACE(std::string(view.id) + " " + of);
      if (std::ranges::count(headings(now), of) == 0 || now_rows.size() != now.rows()) continue;
      for (const auto& [cells, row] : rows_by_key(difference, keys))
        if (now_rows.contains(cells) && before_rows.contains(cells))
          compared +=
              expect_difference(std::get<0>(column.cells)[row], numbers_of(now, of)[now_rows.at(cells)],
                                numbers_of(before, of)[before_rows.at(cells)]);
    }
    for (const TableFact& fact : difference.facts) {
      const std::string of = compared_name(fact.name);
      SCOPED_TRACE(std::string(view.id) + " " + of);
      if (std::ranges::count(now.facts, of, &TableFact::name) > 0)
        compared += expect_difference(fact_of(difference, fact.name), fact_of(now, of), fact_of(before, of));
    }
    views_compared += compared > 0;
  }
  EXPECT_GE(views_compared, 13);
}

TEST(ViewDifference, EveryViewThatHasOneIsDrawnForTwoPromptsOfAnyLengths) {
  for (const auto& [second, by] :
       {std::pair{"The", Alignment::position},
        {"The very old king had daughter", Alignment::subsequence},
        {"A robot must obey the orders given it by human beings", Alignment::position}}) {
    Scenario scenario(Prompt{"The old king had a daughter", {}, false});
    scenario.compare(Prompt{second, {}, false}, by);
    for (const int query : {-1, 0, 4}) {
      scenario.select({2, 1, query});
      for (const View& view : views()) {
        if (!view.shows_difference) continue;
        SCOPED_TRACE(std::string(view.id) + " " + second);
        const ViewContext c = on_side(Side::difference, view, scenario.context(700, 500));
        const viz::Picture picture = view.build(c);
        EXPECT_FALSE(picture.scene.items.empty());
        static_cast<void>(view.table(c));
        for (int region = 0; region < std::ssize(picture.regions); ++region)
          static_cast<void>(view.facts(c, picture, {region, 0, 0}));
      }
    }
  }
}

}  // namespace
}  // namespace headscope::app::comparison_test
