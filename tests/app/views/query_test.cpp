// The query's table: numbers and vectors read from the picture, compared with the table and the reference.

#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::query_test {
namespace {

constexpr int kQuery = 5;

Scenario robot_with_query(int query) {
  Scenario s(kRobot, {1, 2, query});
  return s;
}

constexpr double kTolerance = 5e-5;  // between float32 and double

TEST(Query, NumbersInTheRowsAreThoseOfTheTableAndTheReference) {
  const Scenario s = robot_with_query(kQuery);
  const auto& head = reference_head(s);
  const ViewFixture shown("query", s, 1700, 700);
  const Table table = shown.table();
  DrawnPage page = shown.page();
  struct Column {
    std::string heading;
    const std::vector<double>& expected;  // by key
    std::size_t in_table;
  };
  const std::vector<Column> columns{
      {"score q·k", head.scores[kQuery], 2},
      {"× 1/√" + std::to_string(s.config().d_head()), head.scaled[kQuery], 3},
      {"masked", head.scaled[kQuery], 4},
      {"weight", head.weights[kQuery], 5},
  };
  const auto stands_below = [&](const viz::testing::TextBox& number, const std::string& heading) {
    const auto place = page.place_of(heading);
    return place && std::abs(number.bounds.right() - place->right()) < 4;
  };
  for (int key = 0; key <= kQuery; ++key) {
    const auto k = static_cast<std::size_t>(key);
    const auto drawn = page.take(shown.region(shown.key_row(key)).rect);
    ASSERT_EQ(drawn.size(), 2 + columns.size()) << "position, token and the numbers of key " << key;
    EXPECT_EQ(drawn[0].text, std::to_string(key));
    EXPECT_EQ(drawn[1].text, s.run->tokens.labels[k]);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      SCOPED_TRACE(columns[i].heading + " of key " + std::to_string(key));
      EXPECT_TRUE(stands_below(drawn[2 + i], columns[i].heading));
      EXPECT_TRUE(
          agree(drawn[2 + i].text, table.rows[k][columns[i].in_table], columns[i].expected[k], kTolerance));
    }
  }
  // The sum of the weights is below them.
  const auto sum = page.place_of("sum of all " + std::to_string(kQuery + 1));
  ASSERT_TRUE(sum);
  const auto drawn = page.take(viz::Rect{0, sum->y - 3, shown.scene().width, sum->h + 6});
  ASSERT_EQ(drawn.size(), 3U);  // sum, its number, z =
  EXPECT_TRUE(stands_below(drawn[1], "weight"));
  EXPECT_TRUE(agree(drawn[1].text, table.rows.back()[5], 1, 1e-5));

  EXPECT_NE(
      page.take("Attention from query " + std::to_string(kQuery) + " “" + s.run->tokens.labels[kQuery] + "”"),
      "");
  EXPECT_NE(page.take(std::to_string(s.length() - kQuery - 1) + " later keys: masked (score −∞, weight 0)"),
            "");
}

/// The horizontal bars of the legend, from left to right: q and k, v, weight × v.
std::vector<viz::Image> legend_bars(const ViewFixture& shown) {
  std::vector<viz::Image> bars;
  const float bottom = shown.region(shown.strip(Vector::z, kQuery)).rect.bottom();
  for (viz::Image& image : items_of<viz::Image>(shown.scene())) {
    if (image.bitmap->height == 1 && image.dest.y >= bottom) bars.push_back(std::move(image));
  }
  std::sort(bars.begin(), bars.end(), [](const auto& a, const auto& b) { return a.dest.x < b.dest.x; });
  return bars;
}

TEST(Query, WhoLooksUpAComponentInTheLegendReadsItsValue) {
  const Scenario s = robot_with_query(kQuery);
  const auto& head = reference_head(s);
  constexpr float kFine = 8;  // device pixels: the legend's bars are short
  const ViewFixture shown("query", s, 1700, 700, {}, light(), kFine);
  DrawnPage page = shown.page();
  std::vector<DrawnScale> scales;
  for (const viz::Image& bar : legend_bars(shown)) scales.emplace_back(page, bar, DrawnScale::Kind::linear);
  ASSERT_EQ(scales.size(), 3U);
  const auto expect_strip = [&](Vector which, int key, const DrawnScale& scale,
                                const std::vector<double>& values) {
    const int strip = shown.strip(which, key);
    ASSERT_GE(strip, 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_TRUE(
          reads(scale, shown.color_of(strip, static_cast<int>(which), static_cast<int>(i)), values[i]))
          << "vector " << static_cast<int>(which) << " of key " << key << ", component " << i;
    }
  };
  expect_strip(Vector::query, kQuery, scales[0], head.q[kQuery]);
  expect_strip(Vector::z, kQuery, scales[2], head.z[kQuery]);
  for (int key = 0; key <= kQuery; ++key) {
    const auto k = static_cast<std::size_t>(key);
    std::vector<double> weighted = head.v[k];
    for (double& value : weighted) value *= head.weights[kQuery][k];
    expect_strip(Vector::key, key, scales[0], head.k[k]);
    expect_strip(Vector::value, key, scales[1], head.v[k]);
    expect_strip(Vector::weighted_value, key, scales[2], weighted);
  }
}

TEST(Query, TheTableHasTheVectorsOfTheReference) {
  const Scenario s = robot_with_query(kQuery);
  const auto& head = reference_head(s);
  const Table table = ViewFixture("query", s, 900, 700).table();
  const std::size_t d_head = head.z[kQuery].size();
  ASSERT_EQ(table.rows.size(), static_cast<std::size_t>(s.length()) + 1);
  for (std::size_t key = 0; key <= kQuery; ++key) {
    for (std::size_t i = 0; i < d_head; ++i) {
      const std::vector<std::string>& row = table.rows[key];
      EXPECT_NEAR(std::stod(row[6 + i]), head.k[key][i], kTolerance);
      EXPECT_NEAR(std::stod(row[6 + d_head + i]), head.v[key][i], kTolerance);
      EXPECT_NEAR(std::stod(row[6 + 2 * d_head + i]), head.weights[kQuery][key] * head.v[key][i], kTolerance);
    }
  }
  const std::vector<std::string>& sum = table.rows.back();
  ASSERT_EQ(sum.size(), 6 + 3 * d_head);
  EXPECT_EQ(sum[0], "sum");
  EXPECT_NEAR(std::stod(sum[5]), 1, 1e-5);
  for (std::size_t i = 0; i < d_head; ++i)
    EXPECT_NEAR(std::stod(sum[6 + 2 * d_head + i]), head.z[kQuery][i], kTolerance);
}

TEST(Query, TooltipsTellTheNumbersOfTheTableAndTheReference) {
  const Scenario s = robot_with_query(kQuery);
  const auto& head = reference_head(s);
  const ViewFixture shown("query", s, 1700, 700);
  const Table table = shown.table();
  const std::vector<std::string> row = shown.tooltip(shown.key_row(3));
  EXPECT_EQ(row[0], "key 3 “" + s.run->tokens.labels[3] + "”");
  EXPECT_TRUE(agree(number_after(row, "score "), table.rows[3][2], head.scores[kQuery][3], kTolerance));
  EXPECT_TRUE(agree(number_after(row, "scaled "), table.rows[3][3], head.scaled[kQuery][3], kTolerance));
  EXPECT_TRUE(agree(number_after(row, "weight "), table.rows[3][5], head.weights[kQuery][3], kTolerance));
  EXPECT_TRUE(agree(number_after(row, "q·k = "), table.rows[3][2], head.scores[kQuery][3], kTolerance));
  EXPECT_TRUE(agree(number_after(row, "softmax → "), table.rows[3][5], head.weights[kQuery][3], kTolerance));

  const std::size_t d_head = head.z[kQuery].size();
  const auto component = [&](Vector which, int key) {
    return shown.tooltip(shown.strip(which, key), static_cast<int>(which), 5);
  };
  EXPECT_TRUE(agree(number_after(component(Vector::key, 3), "k[5] = "), table.rows[3][6 + 5], head.k[3][5],
                    kTolerance));
  EXPECT_TRUE(agree(number_after(component(Vector::value, 3), "v[5] = "), table.rows[3][6 + d_head + 5],
                    head.v[3][5], kTolerance));
  EXPECT_TRUE(agree(number_after(component(Vector::weighted_value, 3), "v[5] = "),
                    table.rows[3][6 + 2 * d_head + 5], head.weights[kQuery][3] * head.v[3][5], kTolerance));
  EXPECT_TRUE(agree(number_after(component(Vector::z, kQuery), "z[5] = "),
                    table.rows.back()[6 + 2 * d_head + 5], head.z[kQuery][5], kTolerance));
  const auto q = number_after(component(Vector::query, kQuery), "q[5] = ");
  ASSERT_TRUE(q);
  EXPECT_NEAR(q->value, head.q[kQuery][5], kTolerance);
}

TEST(Query, ARowForEachKeyOneLineForThoseBehind) {
  const Scenario s(kRobot);
  ViewContext c = s.context(1200, 700);
  c.selection.query = 4;
  const Picture picture = find_view("query")->build(c);
  EXPECT_THAT(ids_of_role(picture, kKeyRole), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(texts(picture.scene), Contains(std::to_string(s.run->run->length() - 5) +
                                             " later keys: masked (score −∞, weight 0)"));
}

TEST(Query, StrongestFirstSortsByWeight) {
  const ViewFixture shown("query", scenario(100), 1200, 700, {{"strongest-first", "yes"}});
  float before = 2;
  for (const int key : ids_of_role(shown.picture(), kKeyRole)) {
    const float weight = scenario(100).weight(shown.context().selection.query, key);
    EXPECT_LE(weight, before);
    before = weight;
  }
  EXPECT_LT(before, 2);
}

TEST(Query, LongPromptsScroll) {
  ViewContext c = scenario(100).context(900, 500);
  c.in_pane = true;
  const View& view = *find_view("query");
  set(c, "first-key", "0");
  EXPECT_EQ(view.build(c).regions[1].id, 0);  // after the query's own vector
  set(c, "first-key", "30");
  EXPECT_EQ(view.build(c).regions[1].id, 30);
  set(c, "first-key", "5000");
  EXPECT_EQ(ids_of_role(view.build(c), kKeyRole).back(), c.selection.query);
}

TEST(Query, ARowChoosesItsKeyAndGivesItBack) {
  Scenario s = robot_with_query(kQuery);
  ViewFixture shown("query", s, 1700, 700);
  EXPECT_EQ(in_words(shown.click(shown.key_row(3))), "key 3");
  EXPECT_EQ(in_words(shown.click(shown.strip(Vector::value, 2), static_cast<int>(Vector::value), 4)),
            "key 2");
  EXPECT_EQ(in_words(shown.click(shown.strip(Vector::query, kQuery), static_cast<int>(Vector::query), 4)),
            "");
  EXPECT_EQ(in_words(shown.click(shown.strip(Vector::z, kQuery), static_cast<int>(Vector::z), 4)), "");
  s.select({1, 2, kQuery, 3});
  EXPECT_EQ(in_words(ViewFixture("query", s, 1700, 700).click(shown.key_row(3))), "key -1");
}

TEST(Query, TheChosenKeysRowHasAGround) {
  Scenario s = robot_with_query(kQuery);
  const auto grounds = [&] {
    const ViewFixture shown("query", s, 1700, 700);
    int rows = 0;
    for (const auto& fill : items_of<viz::FillRect>(shown.scene())) {
      if (fill.color.with_alpha(255) != light().key || fill.rect.w < 1000) continue;
      ++rows;
      EXPECT_TRUE(fill.rect.contains(shown.region(shown.key_row(3)).rect.center()));
    }
    return rows;
  };
  EXPECT_EQ(grounds(), 0);
  s.select({1, 2, kQuery, 3});
  EXPECT_EQ(grounds(), 1);
}

TEST(Query, KeysScrollTheRowsAndLeaveTheQuery) {
  const ViewFixture shown("query", Scenario(scenario(100).run->prompt, {1, 2, 60, -1}), 900, 500,
                          {{"first-key", "20"}});
  const auto rows = static_cast<int>(ids_of_role(shown.picture(), kKeyRole).size());
  const auto first_key = [](int key) { return "first-key " + std::to_string(key); };
  EXPECT_EQ(in_words(shown.press(Key::up)), first_key(19));
  EXPECT_EQ(in_words(shown.press(Key::down)), first_key(21));
  EXPECT_EQ(in_words(shown.press(Key::page_up)), first_key(20 - rows));
  EXPECT_EQ(in_words(shown.press(Key::page_down)), first_key(20 + rows));
  EXPECT_EQ(in_words(shown.press(Key::home)), first_key(0));
  EXPECT_EQ(in_words(shown.press(Key::end)), first_key(61 - rows));
  EXPECT_EQ(in_words(shown.press(Key::left)), "query by -1");
  EXPECT_EQ(in_words(shown.press(Key::right)), "query by 1");
}

// At first, the rows with the strongest key and with most weight.
TEST(Query, TheStrongestKeyIsInView) {
  int scrolled = 0;
  for (int head = 0; head < scenario(100).config().n_head; ++head) {
    const Scenario s(scenario(100).run->prompt, {1, head, 90, -1});
    ViewContext c = s.context(900, 400);
    c.in_pane = true;
    const auto& weights = reference_head(s, 1, head).weights[90];
    const std::vector<int> rows = ids_of_role(find_view("query")->build(c), kKeyRole);
    ASSERT_LT(rows.size(), 60U);
    const auto strongest = static_cast<int>(std::ranges::max_element(weights) - weights.begin());
    EXPECT_THAT(rows, Contains(strongest)) << head;
    const auto sum_from = [&](int first) {
      double sum = 0;
      for (int key = first; key < first + std::ssize(rows); ++key)
        sum += weights[static_cast<std::size_t>(key)];
      return sum;
    };
    for (int first = 0; first + std::ssize(rows) <= 91; ++first) {
      if (strongest >= first && strongest < first + std::ssize(rows)) {
        EXPECT_GE(sum_from(rows.front()) + 1e-4, sum_from(first)) << head << " " << first;
      }
    }
    scrolled += rows.front() > 0;
  }
  EXPECT_GT(scrolled, 0);
}

TEST(Query, WithShiftTheyChooseTheKeyInTheOrderOfTheRows) {
  Scenario s(scenario(100).run->prompt, {1, 2, 60, -1});
  const ViewFixture none("query", s, 900, 500, {{"first-key", "20"}});
  EXPECT_EQ(in_words(none.press(Key::down, true)), "key 20") << "the first in sight";
  s.select({1, 2, 60, 20});
  const ViewFixture shown("query", s, 900, 500, {{"first-key", "20"}});
  EXPECT_EQ(in_words(shown.press(Key::down, true)), "key 21");
  EXPECT_EQ(in_words(shown.press(Key::up, true)), "key 19, first-key 19");
  const NamedOptions strongest{{"strongest-first", "yes"}};
  const auto order = ids_of_role(ViewFixture("query", s, 900, 4000, strongest).picture(), kKeyRole);
  s.select({1, 2, 60, order[4]});
  EXPECT_EQ(in_words(ViewFixture("query", s, 900, 500, strongest).press(Key::down, true)),
            "key " + std::to_string(order[5]));
}

// The size in a window of 1024 x 700.
// How the output comes about: each key's score, weight and share of the sum. The steps between come last.
TEST(Query, SmallPanesKeepTheScoresTheWeightsAndTheSum) {
  const ViewFixture shown("query", scenario(23), 470, 330);
  const auto all = texts(shown.scene());
  for (const std::string& heading :
       {std::string("score q·k"), std::string("weight"), std::string("weight × v")})
    EXPECT_THAT(all, Contains(heading));
  for (const std::string& heading : {std::string("× 1/√32"), std::string("masked"), std::string("value v")})
    EXPECT_THAT(all, Not(Contains(heading)));
  EXPECT_GE(shown.strip(Vector::z, 22), 0);
  EXPECT_GE(ids_of_role(shown.picture(), kKeyRole).size(), 6U);
}

TEST(Query, TheMenuChoosesAndCopies) {
  Scenario s = robot_with_query(kQuery);
  const ViewFixture shown("query", s, 1700, 700);
  const Table table = shown.table();
  const std::string name = "3 “" + s.run->tokens.labels[3] + "”";
  const int row = shown.key_row(3);
  EXPECT_EQ(in_words(shown.choose("Select key " + name, row)), "key 3");
  EXPECT_EQ(in_words(shown.choose("Select query " + name, row)), "query 3");
  EXPECT_EQ(in_words(shown.choose("Copy weight " + table.rows[3][5], row)), "copy " + table.rows[3][5]);
}

TEST(Query, ProductsOfTheComponentsAddUpToTheScore) {
  const Scenario s = robot_with_query(kQuery);
  const auto& head = reference_head(s);
  const ViewFixture shown("query", s, 1700, 700, {{"strips", "products"}});
  const Table table = shown.table();
  const std::size_t d_head = head.q[kQuery].size(), first = 6 + d_head;
  ASSERT_EQ(table.header.size(), 6 + 2 * d_head);
  EXPECT_EQ(table.header[first], "q*k[0]");
  for (std::size_t key = 0; key <= kQuery; ++key) {
    SCOPED_TRACE(key);
    double sum = 0;
    for (std::size_t i = 0; i < d_head; ++i) {
      const double product = std::stod(table.rows[key][first + i]);
      EXPECT_NEAR(product, head.q[kQuery][i] * head.k[key][i], kTolerance) << i;
      sum += product;
    }
    EXPECT_NEAR(sum, std::stod(table.rows[key][2]), kTolerance);
    const int strip = shown.strip(Vector::product, static_cast<int>(key));
    ASSERT_GE(strip, 0);
    EXPECT_THAT(shown.tooltip(strip, static_cast<int>(Vector::product), 3),
                Contains("q[3] × k[3] = " + exact(std::stof(table.rows[key][first + 3]))));
    EXPECT_EQ(shown.strip(Vector::value, static_cast<int>(key)), -1);
    EXPECT_EQ(shown.strip(Vector::weighted_value, static_cast<int>(key)), -1);
  }
  EXPECT_THAT(texts(shown.scene()), Contains("q × k"));
  EXPECT_EQ(ViewFixture("query", s, 1700, 700).strip(Vector::product, 0), -1) << "beside the values";
}

}  // namespace
}  // namespace headscope::app::query_test
