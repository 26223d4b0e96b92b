// The query's table: numbers and vectors read from the picture, compared with the table and the reference.

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
  const auto rows = text_rows(table);
  DrawnPage page = shown.page();
  const std::array<const std::vector<double>*, 4> columns{&head.scores[kQuery], &head.scaled[kQuery],
                                                          &head.scaled[kQuery], &head.weights[kQuery]};
  for (int key = 0; key <= kQuery; ++key) {
    const auto k = static_cast<std::size_t>(key);
    const auto drawn = page.take(shown.region(shown.key_row(key)).rect);
    ASSERT_EQ(drawn.size(), 2 + columns.size()) << "position, token and the numbers of key " << key;
    EXPECT_EQ(drawn[0].text, std::to_string(key));
    EXPECT_EQ(drawn[1].text, s.run->tokens.labels[k]);
    for (std::size_t i = 0; i < columns.size(); ++i)
      EXPECT_TRUE(agree(drawn[2 + i].text, rows[k][2 + i], (*columns[i])[k], kTolerance)) << i;
  }
  // The sum of the weights is below them.
  const auto sum = page.place_of("sum of all " + std::to_string(kQuery + 1));
  ASSERT_TRUE(sum);
  const auto drawn = page.take(viz::Rect{0, sum->y - 3, shown.scene().width, sum->h + 6});
  ASSERT_EQ(drawn.size(), 3U);  // sum, its number, z =
  EXPECT_TRUE(agree(drawn[1].text, facts_of(table).at("sum of weights"), 1, 1e-5));
}

TEST(Query, TheTableHasTheVectorsOfTheReference) {
  const Scenario s = robot_with_query(kQuery);
  const auto& head = reference_head(s);
  const auto rows = text_rows(ViewFixture("query", s, 900, 700).table());
  const std::size_t d_head = head.z[kQuery].size();
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(s.length()));
  ASSERT_EQ(rows[0].size(), 6 + 3 * d_head);
  for (std::size_t key = 0; key <= kQuery; ++key) {
    for (std::size_t i = 0; i < d_head; ++i) {
      const std::vector<std::string>& row = rows[key];
      EXPECT_NEAR(std::stod(row[6 + i]), head.k[key][i], kTolerance);
      EXPECT_NEAR(std::stod(row[6 + d_head + i]), head.v[key][i], kTolerance);
      EXPECT_NEAR(std::stod(row[6 + 2 * d_head + i]), head.weights[kQuery][key] * head.v[key][i], kTolerance);
    }
  }
}

TEST(Query, ProductsOfTheComponentsAddUpToTheScore) {
  const Scenario s = robot_with_query(kQuery);
  const auto& head = reference_head(s);
  const ViewFixture shown("query", s, 1700, 700, {{"strips", "products"}});
  const auto rows = text_rows(shown.table());
  const std::size_t d_head = head.q[kQuery].size(), first = 6 + d_head;
  ASSERT_EQ(rows[0].size(), 6 + 2 * d_head);
  for (std::size_t key = 0; key <= kQuery; ++key) {
    SCOPED_TRACE(key);
    double sum = 0;
    for (std::size_t i = 0; i < d_head; ++i) {
      const double product = std::stod(rows[key][first + i]);
      EXPECT_NEAR(product, head.q[kQuery][i] * head.k[key][i], kTolerance) << i;
      sum += product;
    }
    EXPECT_NEAR(sum, std::stod(rows[key][2]), kTolerance);
    EXPECT_GE(shown.strip(Vector::product, static_cast<int>(key)), 0);
    EXPECT_EQ(shown.strip(Vector::value, static_cast<int>(key)), -1);
  }
}

}  // namespace
}  // namespace headscope::app::query_test
