// The next token: probabilities and logits read from the picture, compared with the table and the reference.

#include <iomanip>

#include "app/run/analyses/next_token.h"
#include "app/run/analyses/token_statistics.h"
#include "model/pass/statistics.h"
#include "model/tokens/sampling.h"
#include "tests/app/view_fixture.h"
#include "viz/charts/number_axis.h"

namespace headscope::app::next_test {
namespace {

/// The longest bar and the bars' axis, read from the picture.
struct DrawnBars {
  std::vector<viz::Rect> bars;
  viz::Rect axis;  ///< from the first number to the last
  double low = 0, high = 0;
};
DrawnBars drawn_bars(const Picture& picture, const std::vector<viz::Color>& colors) {
  DrawnBars drawn;
  for (const viz::FillRect& fill : items_of<viz::FillRect>(picture.scene))
    if (std::ranges::count(colors, fill.color) > 0) drawn.bars.push_back(fill.rect);
  std::vector<viz::testing::TextBox> numbers;
  for (const viz::testing::TextBox& box : viz::testing::text_boxes(picture.scene, *fonts()))
    if (box.bounds.bottom() < picture.regions.front().rect.y && read_number(box.text)) numbers.push_back(box);
  std::ranges::sort(numbers, {}, [](const auto& box) { return box.bounds.x; });
  const auto value = [](const std::string& text) {
    return read_number(text)->value * (text.ends_with('%') ? 100 : 1);
  };
  drawn.low = value(numbers.front().text), drawn.high = value(numbers.back().text);
  const float from = numbers.front().bounds.center().x;
  drawn.axis = {from, 0, numbers.back().bounds.center().x - from, 1};
  return drawn;
}

TEST(Next, BarsAreTheMostProbableTokensAndTheRest) {
  Scenario s(kRobot, {0, 0, 5});
  const ViewFixture shown("next", s, 420, 700, {{"count", "5"}});
  const Picture& picture = shown.picture();
  const model::PositionStatistics expected = s.ask(StatisticsOfTokens{})->positions[5];
  ASSERT_GE(picture.regions.size(), 5U);
  const Table table = shown.table();
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(picture.regions[i].id, expected.top[i].id);
    EXPECT_NEAR(std::stod(table.rows[i][5]), expected.top[i].probability, 1e-6);
  }
  EXPECT_THAT(texts(picture.scene), Contains(HasSubstr("follows in the prompt, rank " +
                                                       std::to_string(expected.next_rank + 1) + " of ")));
  EXPECT_THAT(texts(picture.scene), Contains(HasSubstr("all other ")));
}

TEST(Next, SaysHowManyOfTheBarsHaveRoom) {
  int cut = 0;
  for (const bool compares : {false, true}) {
    for (float height = 200; height < 520; height += 7) {
      const Scenario s = compares ? edited("L0H0.z=0") : Scenario(kRobot);
      const ViewFixture shown("next", s, 216, height);
      // The token that follows has a bar of its own if it is not among the best, and so has the one that the
      // unedited run prefers.
      const std::size_t bars = ids_of_role(shown.picture(), kGuessRole).size();
      const ViewFixture whole("next", s, 216, 2000);
      const std::size_t wanted = ids_of_role(whole.picture(), kGuessRole).size();
      const std::string words =
          "room for " + std::to_string(bars) + " of " + std::to_string(wanted) + " bars";
      const auto all = texts(shown.scene());
      if (bars < wanted && bars > 3) {
        EXPECT_THAT(all, Contains(words)) << height;
        ++cut;
      } else if (bars == wanted) {
        EXPECT_THAT(all, Not(Contains(HasSubstr("room for ")))) << height;
      }
    }
  }
  EXPECT_GT(cut, 10);
}

TEST(Next, TheBestGuessOfTheUneditedRunKeepsABar) {
  constexpr const char* kKing = "The king gave Mr. Pellinor a horse. Then the king gave Mr.";
  const Scenario s = edited("L1H6.z=0; L1H1.z=0; L2H5.z=0", {1, 6, -1}, kKing);
  const NextToken before = *s.context(1, 1).ask_on(Side::baseline, NextAfter{-1});
  const auto best = static_cast<int>(std::ranges::max_element(before.logits) - before.logits.begin());
  for (const char* count : {"3", "10"}) {
    const ViewFixture shown("next", s, 420, 700, {{"count", count}});
    const auto ids = ids_of_role(shown.picture(), kGuessRole);
    EXPECT_EQ(std::to_string(ids.size()), std::to_string(std::stoi(count) + 1));
    EXPECT_EQ(ids.back(), best);
  }
  const ViewFixture all("next", s, 420, 3000, {{"count", "90"}});
  EXPECT_EQ(ids_of_role(all.picture(), kGuessRole).size(), 90U) << "not twice";
}

TEST(Next, AFormerBestGuessHasItsMarkOnTheAxisAndItsBarInOrder) {
  constexpr const char* kFox = "The king gave Mr. Fox a horse. Then the king gave Mr.";
  const Scenario s = edited("L0H0.z=0; L1H1.z=0; L1H6.z=0; L2H5.z=0", {1, 6, 5}, kFox);
  const auto probabilities = [&](Side side) {
    const auto next = s.context(1, 1).ask_on(side, NextAfter{5});
    std::vector<double> all(next->logits.size());
    model::softmax(next->logits, 1, all);
    return all;
  };
  const auto before = probabilities(Side::baseline), now = probabilities(Side::run);
  for (const char* count : {"1", "3", "10"}) {
    const ViewFixture shown("next", s, 700, 700, {{"count", count}});
    const auto ids = ids_of_role(shown.picture(), kGuessRole);
    double most = 0;
    for (const int id : ids) most = std::max({most, 100 * before[id], 100 * now[id]});
    EXPECT_GE(drawn_bars(shown.picture(), {light().bar}).high, most) << count;
    EXPECT_TRUE(std::ranges::is_sorted(ids, std::ranges::greater(), [&](int id) { return now[id]; }))
        << count;
  }
}

TEST(Next, OnTheDifferenceSideTheRestSaysItsDifferenceToo) {
  Scenario s(Prompt{"The old king had a daughter", {}, false});
  s.compare(Prompt{"The young king had a dog", {}, false});
  const View& view = *find_view("next");
  const ViewContext c = on_side(Side::difference, view, s.context(420, 700));
  const Picture picture = view.build(c);
  const auto probabilities = [&](Side side) {
    const auto next = c.ask_on(side, NextAfter{s.length() - 1});
    std::vector<double> all;
    double sum = 0;
    for (const float logit : next->logits) sum += all.emplace_back(std::exp(static_cast<double>(logit)));
    for (double& probability : all) probability /= sum;
    return all;
  };
  const auto now = probabilities(Side::run), before = probabilities(Side::baseline);
  double difference = 0;  // the shown guesses gain what the others lose
  for (const int id : ids_of_role(picture, kGuessRole)) difference -= now[id] - before[id];
  ASSERT_GT(std::abs(difference), 1e-3);
  EXPECT_THAT(texts(picture.scene),
              Contains((difference < 0 ? "−" : "+") + viz::number(100 * std::abs(difference), 3)));
}

TEST(Next, TheAxisEndsAtTheRoundPercentageAboveTheLargestBar) {
  for (const char* temperature : {"0.3", "1", "2"}) {
    const ViewFixture shown("next", Scenario(kRobot), 900, 700, {{"temperature", temperature}});
    const double largest = 100 * std::stod(shown.table().rows[0][5]);
    const DrawnBars drawn = drawn_bars(shown.picture(), {light().bar});
    EXPECT_EQ(drawn.low, 0);
    EXPECT_NEAR(drawn.high, std::min(100.0, viz::round_limit(largest)), 1e-9);
    EXPECT_GE(drawn.high, largest);
    EXPECT_LE(drawn.high, 1.5 * largest) << "bars use the width";
    EXPECT_THAT(texts(shown.scene()), Contains(viz::tick_label(drawn.high, drawn.high) + " %"));
  }
}

TEST(Next, NumbersOfTheAxisNeverTouch) {
  const Scenario s(kRobot), changed = edited("L4.attn_out=0");
  for (float width = 160; width < 480; width += 9) {
    for (const char* temperature : {"0.05", "1"}) {
      ViewContext c = s.context(width, 500), difference = on(Side::difference, "next", changed, width, 500);
      for (ViewContext* each : {&c, &difference}) {
        set(*each, "temperature", temperature);
        EXPECT_EQ(text_faults(find_view("next")->build(*each).scene, *c.fonts), "") << width;
      }
    }
  }
}

TEST(Next, ABarOfOnePercentIsTwoPixelsWideInThePaneOfALargeWindow) {
  for (const char* temperature : {"0.3", "1"}) {
    const Scenario s(kRobot);
    ViewContext c = s.context(330, 800);
    c.in_pane = true;
    set(c, "temperature", temperature);
    set(c, "count", "30");
    const Picture picture = find_view("next")->build(c);
    const Table table = find_view("next")->table(c);
    const std::vector<viz::Rect> bars = drawn_bars(picture, {light().bar}).bars;
    ASSERT_FALSE(bars.empty());
    for (std::size_t i = 0; i < std::min(bars.size(), table.rows.size()); ++i)
      if (std::stod(table.rows[i][5]) >= 0.01) {
        EXPECT_GE(bars[i].w, 2) << table.rows[i][5];
      }
  }
}

TEST(Next, DifferencesAreBarsInPercentagePointsToBothSides) {
  const Scenario s = edited("L4.attn_out=0");
  for (const float width : {330.F, 900.F}) {
    const ViewContext c = on(Side::difference, "next", s, width, 800);
    const Picture picture = find_view("next")->build(c);
    const Table table = find_view("next")->table(c);
    const viz::Color more = viz::sign_color(light(), 1), less = viz::sign_color(light(), -1);
    const DrawnBars drawn = drawn_bars(picture, {more, less});
    std::vector<double> points;
    for (const auto& row : table.rows) points.push_back(100 * std::stod(row.back()));
    const double largest = std::abs(points[0]);
    EXPECT_EQ(drawn.low, -drawn.high);
    EXPECT_NEAR(drawn.high, viz::round_limit(largest), 1e-9);
    ASSERT_GE(drawn.bars.size(), 5U);
    const float zero = drawn.axis.center().x;
    for (std::size_t i = 0; i < 5; ++i) {
      const viz::Rect& bar = drawn.bars[i];
      EXPECT_NEAR(bar.w, std::max(1.0, std::abs(points[i]) / (2 * drawn.high) * drawn.axis.w), 3) << i;
      EXPECT_NEAR(points[i] < 0 ? bar.right() : bar.x, zero, 3) << i;
    }
    EXPECT_EQ(text_faults(picture.scene, *fonts()), "");
  }
}

TEST(Next, TheTokenThatFollowsIsShownHoweverImprobable) {
  Scenario s("The king zebra");
  for (int query = 0; query + 1 < s.run->run->length(); ++query) {
    s.select({0, 0, query});
    const ViewFixture shown("next", s, 420, 600, {{"count", "2"}});
    EXPECT_GE(shown.bar(s.run->tokens.tokens[query + 1].id), 0);
  }
}

constexpr double kLogitTolerance = 1e-4, kProbabilityTolerance = 1e-5;  // between float32 and double

std::string precisely(double value) {
  std::ostringstream text;
  text << std::setprecision(17) << value;
  return text.str();
}

/// Reads everything that the view shows about the token after a position. `below`: whether the actual next
/// token has its own bar, below the guesses.
void expect_guesses(int query, double temperature, const std::string& spelled, bool& below) {
  Scenario s(kRobot, {0, 0, query});
  const auto at = static_cast<std::size_t>(query);
  const ViewFixture shown("next", s, 520, 700, {{"count", "8"}, {"temperature", spelled}});
  Table table = shown.table();
  ASSERT_EQ(table.rows.size(), 8U + 1U);
  EXPECT_EQ(table.rows.back()[2], "all other tokens");
  table.rows.pop_back();
  const std::vector<double>& logits = reference(s).logits[at];
  const std::vector<double> probabilities = reference(s).probabilities(query, temperature);
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });

  DrawnPage page = shown.page();
  const auto probability_title = page.place_of("probability"), logit_title = page.place_of("logit");
  ASSERT_TRUE(probability_title && logit_title);
  const auto tolerance = [](double probability) { return kProbabilityTolerance * (1e-3 + probability); };
  double listed = 0;
  std::optional<float> numbers_end;
  const auto expect_bar = [&](std::size_t id, const std::string& logit_cell,
                              const std::string& probability_cell) {
    const int bar = shown.bar(static_cast<int>(id));
    ASSERT_GE(bar, 0);
    const auto drawn = page.take(shown.region(bar).rect);
    ASSERT_EQ(drawn.size(), 3U) << "label, probability, logit";
    // Probabilities are under their title at the start of the bars, in one column before the logits.
    EXPECT_GT(drawn[1].bounds.x, probability_title->x);
    EXPECT_LT(drawn[1].bounds.right(), logit_title->x);
    if (!numbers_end) numbers_end = drawn[1].bounds.right();
    EXPECT_NEAR(drawn[1].bounds.right(), *numbers_end, 1);
    EXPECT_NEAR(drawn[2].bounds.right(), logit_title->right(), 4);
    EXPECT_TRUE(agree(drawn[1].text, probability_cell, probabilities[id], 10 * tolerance(probabilities[id])));
    EXPECT_TRUE(agree(drawn[2].text, logit_cell, logits[id], kLogitTolerance));
    const std::vector<std::string> lines = shown.tooltip(bar);
    EXPECT_EQ(lines[0], "“" + drawn[0].text + "”");
    EXPECT_THAT(lines[1], HasSubstr("id " + std::to_string(id) + ","));
    EXPECT_TRUE(agree(number_after(lines, "probability "), probability_cell, probabilities[id],
                      10 * tolerance(probabilities[id])));
    EXPECT_TRUE(agree(number_after(lines, "logit "), logit_cell, logits[id], kLogitTolerance));
    listed += probabilities[id];
  };
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    SCOPED_TRACE("guess " + std::to_string(i + 1));
    const std::vector<std::string>& row = table.rows[i];
    EXPECT_EQ(row[0], std::to_string(i + 1));
    EXPECT_EQ(row[1], std::to_string(order[i]));
    expect_bar(order[i], row[4], row[5]);
  }
  // The actual next token has its own bar if it is not among the shown guesses; it is not in the table.
  const int actual = s.run->tokens.tokens[at + 1].id, rank = reference(s).rank(query, actual);
  std::size_t bars = table.rows.size();
  below = rank > 8;
  if (below) {
    const auto id = static_cast<std::size_t>(actual);
    const std::vector<std::string> lines = shown.tooltip(shown.bar(actual));
    const auto logit = number_after(lines, "logit "), probability = number_after(lines, "probability ");
    ASSERT_TRUE(logit && probability);
    expect_bar(id, precisely(logit->value), precisely(probability->value));
    ++bars;
  }
  EXPECT_NE(
      page.take("follows in the prompt, rank " + std::to_string(rank) + " of " + with_commas(logits.size())),
      "");
  const std::string others = "all other " + with_commas(logits.size() - bars) + " tokens";
  const auto place = page.place_of(others);
  ASSERT_TRUE(place) << others;
  const auto rest = page.take(viz::Rect{0, place->y - 3, shown.scene().width, place->h + 6});
  ASSERT_EQ(rest.size(), 2U);
  const auto number = read_number(rest[1].text);
  ASSERT_TRUE(number);
  EXPECT_NEAR(number->value, 1 - listed, number->rounding + kProbabilityTolerance);
  EXPECT_NE(page.take("After “" + s.run->tokens.labels[at] + "”"), "");
  const std::string position = page.take_starting("position " + std::to_string(query));
  EXPECT_NE(position, "");
  const auto drawn = viz::testing::number_after(position, "temperature ");
  EXPECT_EQ(drawn ? drawn->value : 1, temperature);
}

TEST(Next, NumbersAreThoseOfTheTableAndTheReference) {
  int below = 0, among = 0;
  for (int query = 0; query + 1 < Scenario(kRobot).length(); ++query) {
    SCOPED_TRACE("query " + std::to_string(query));
    bool is_below = false;
    expect_guesses(query, 1, "1", is_below);
    ++(is_below ? below : among);
  }
  EXPECT_GT(below, 0);
  EXPECT_GT(among, 0);
}

TEST(Next, NumbersAreThoseOfTheTemperature) {
  bool is_below = false;
  expect_guesses(5, 0.5, "0.5", is_below);
  expect_guesses(5, 2, "2", is_below);
}

TEST(Next, TemperatureSharpens) {
  const auto first = [](const char* temperature) {
    return std::stod(
        ViewFixture("next", scenario(12), 420, 600, {{"temperature", temperature}}).table().rows[0][5]);
  };
  EXPECT_GT(first("0.5"), first("1"));
}

TEST(Next, ABarContinuesFromThePositionThatIsShown) {
  Scenario s(kRobot);
  const auto first = [](const ViewFixture& shown) { return shown.region(0).id; };
  s.select({1, 1, 4});
  const ViewFixture earlier("next", s, 420, 500);
  const std::string id = std::to_string(first(earlier));
  EXPECT_EQ(in_words(earlier.click(0)), "append " + id + " after 4");
  EXPECT_EQ(earlier.tooltip(0).back(), "click to continue after position 4, replacing what follows");
  const std::string label = "“" + viz::visible(s.run->model->tokenizer->bytes(first(earlier))) + "”";
  EXPECT_EQ(in_words(earlier.choose("Continue after position 4 with " + label, 0)),
            "append " + id + " after 4");
  for (const auto& command : find_view("next")->commands)
    EXPECT_EQ(in_words(command.act(earlier.context(), 0)), "append " + id + " after 4");

  s.select({1, 1, s.length() - 1});
  const ViewFixture last("next", s, 420, 500);
  EXPECT_EQ(in_words(last.click(0)), "append " + std::to_string(first(last)) + " after -1");
  EXPECT_EQ(last.tooltip(0).back().substr(0, 6), "logit ");
  const std::string last_label = "“" + viz::visible(s.run->model->tokenizer->bytes(first(last))) + "”";
  EXPECT_EQ(in_words(last.choose("Append " + last_label, 0)),
            "append " + std::to_string(first(last)) + " after -1");
}

TEST(Next, ABarThatCannotContinueSaysWhy) {
  Scenario full = Scenario::of_length(256);
  ASSERT_EQ(full.length(), full.config().n_ctx);
  full.select({1, 1, full.length() - 1});
  const ViewFixture last("next", full, 420, 500);
  EXPECT_TRUE(last.click(0).empty());
  EXPECT_EQ(last.tooltip(0).back(), "the context is full");

  Scenario two(Prompt{"The old king had a daughter", {}, false});
  two.compare(Prompt{"The very old king had daughter", {}, false}, Alignment::position);
  const View& view = *find_view("next");
  const ViewContext second = on_side(Side::baseline, view, two.context(420, 500));
  const Picture picture = view.build(second);
  EXPECT_EQ(view.facts(second, picture, {0, 0, 0}).tooltip().back(),
            "from the second prompt; click to continue that one");
}

TEST(Next, KeysMoveTheQuery) {
  const ViewFixture shown("next", Scenario(kRobot, {1, 1, 4}), 420, 500);
  EXPECT_EQ(in_words(shown.press(Key::left)), "query by -1");
  EXPECT_EQ(in_words(shown.press(Key::end)), "query -1");
}

TEST(Next, TheMenuCopiesTheProbabilityOfTheTable) {
  const ViewFixture shown("next", scenario(12), 420, 500);
  const std::string probability = shown.table().rows[0][5];
  EXPECT_EQ(in_words(shown.choose("Copy probability " + probability, 0)), "copy " + probability);
}

/// There are no bars for the tokens between: without its rank it would seem to come next.
TEST(NextView, WhatWasFirstBeforeEditsHasItsRankWhereItIsNotNext) {
  const std::string fish =
      "The green fish walk under golden bread and sing. Then the green fish walk under golden";
  const Scenario s = edited("L0H0.z=0", {2, 1, -1}, fish);
  const auto next = s.ask(NextAfter{-1});
  const int bread = s.run->model->tokenizer->encode(" bread").front().id;
  const int rank = model::rank_of(next->logits, bread) + 1;
  ASSERT_GT(rank, 100);
  const auto words = texts(ViewFixture("next", s, 300, 500, {{"count", "6"}}).scene());
  EXPECT_THAT(words, Contains(std::to_string(rank) + ". ·bread"));
  const auto all = texts(ViewFixture("next", s, 300, 300, {{"count", "10"}}).scene());
  EXPECT_THAT(all, Contains(EndsWith("of 10 bars"))) << "as many as were asked for";
}

}  // namespace
}  // namespace headscope::app::next_test
