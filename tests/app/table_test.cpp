// Tables as files, options by name, and selections.

#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::table_test {
namespace {

TEST(Csv, QuotesWhatRfc4180SaysAndEndsLinesWithCrLf) {
  const Table table{{"a", "b"}, {{"1,5", "say \"x\""}, {"two\nlines", "plain"}, {"", "·"}}};
  EXPECT_EQ(to_csv(table), "a,b\r\n\"1,5\",\"say \"\"x\"\"\"\r\n\"two\nlines\",plain\r\n,·\r\n");
}

TEST(Tsv, CellsHoldNoTabsNorLineEnds) {
  EXPECT_EQ(to_tsv({{"a\tb", "c"}, {{"x\r\ny", ","}}}), "a b\tc\nx  y\t,\n");
}

TEST(Tables, EveryRowIsAsLongAsTheHeaderAndNumbersReadBack) {
  const Scenario s("Once upon a time, there was a \"king\"\n");
  for (const View& view : views()) {
    const Table table = view.table(s.context(800, 600));
    ASSERT_FALSE(table.rows.empty()) << view.id;
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.header.size()) << view.id;
  }
  const Table pattern = find_view("heatmap")->table(s.context(800, 600));
  const auto length = static_cast<std::size_t>(s.run->run->length());
  for (std::size_t q = 0; q < length; ++q) {
    for (std::size_t k = 0; k < length; ++k) {
      if (k > q) {
        EXPECT_EQ(pattern.rows[q][k + 2], "");
      } else {
        EXPECT_EQ(std::stof(pattern.rows[q][k + 2]), s.weight(static_cast<int>(q), static_cast<int>(k)));
      }
    }
  }
  const Table scores = find_view("scores")->table(s.context(800, 600));
  EXPECT_EQ(scores.rows[2 * length][4], "-inf");  // masked, query 0, key 1
}

TEST(Selections, AreMovedInsideTheRun) {
  const Scenario s("one two three");
  const int last = s.run->run->length() - 1;
  const model::Config& config = s.run->run->config;
  EXPECT_EQ(clamped({99, 99, 999}, *s.run), (Selection{config.n_layer - 1, config.n_head - 1, last}));
  EXPECT_EQ(clamped({-1, -5, -1}, *s.run), (Selection{0, 0, last}));
  EXPECT_EQ(clamped({1, 1, 0}, *s.run), (Selection{1, 1, 0}));
}

TEST(Selections, KeepAKeyOnlyWhereTheQuerySeesIt) {
  const Scenario s("one two three");
  ASSERT_GT(s.length(), 2);
  const auto key = [&](int query, int wanted) { return clamped({0, 0, query, wanted}, *s.run).key; };
  EXPECT_EQ(key(1, 0), 0);
  EXPECT_EQ(key(1, 1), 1);
  EXPECT_EQ(key(1, 2), -1);
  EXPECT_EQ(key(-1, s.length() - 1), s.length() - 1);
  EXPECT_EQ(key(-1, s.length()), -1);
  EXPECT_EQ(key(1, -1), -1);
  EXPECT_EQ(key(1, -7), -1);
}

TEST(Words, OfAShareSayAllOfAllAlone) {
  EXPECT_EQ(percent(1), "100.0 %");
  EXPECT_EQ(percent(0.99999), "99.99 %");
  EXPECT_EQ(percent(0.9996), "99.96 %");
  EXPECT_EQ(percent(0.999), "99.9 %");
  EXPECT_EQ(percent(0), "0.0 %");
}

TEST(Words, OfTheScaleAreTheConfigurations) {
  model::Config config;
  config.n_embd = 64, config.n_head = 4;
  EXPECT_EQ(scale_factor(config, 2), "1/√16");
  config.scale_attn_by_inverse_layer_idx = true;
  EXPECT_EQ(scale_factor(config, 2), "1/√16 × 1/3");
  config.scale_attn_weights = false;
  EXPECT_EQ(scale_factor(config, 0), "1 × 1/1");
}

}  // namespace
}  // namespace headscope::app::table_test
