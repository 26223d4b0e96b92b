// Tables as files, and as text; selections and words of views.

#include <nlohmann/json.hpp>

#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::table_test {
namespace {

/// Heads with a number each, of which one is missing and one is none.
Table heads() {
  Table table{key_column("layer"), "head", Column("loss", "bits"), note_column("token")};
  table.fact("value", 0.5, "bits");
  table.fact("token", std::string_view("·it"));
  table.fact("none", std::optional<int>());
  add_row(table, 0, "L0 H1", 1.5, "日本");
  add_row(table, 10, "L10 H0", std::nullopt, "a");
  add_row(table, 2, "L2 H3", -20.25, "·b");
  add_row(table, 3, "L3 H3", std::nan(""));
  return table;
}

TEST(Table, CsvQuotesWhatRfc4180SaysAndHeadingsHaveUnits) {
  Table table{"a", Column("b", "bits")};
  add_row(table, "1,5", 0.1F);
  add_row(table, "say \"x\"", 1'000'000);
  add_row(table, "two\nlines", std::nullopt);
  EXPECT_EQ(to_csv(table), "a,b in bits\r\n\"1,5\",0.1\r\n\"say \"\"x\"\"\",1000000\r\n\"two\nlines\",\r\n");
  EXPECT_THAT(to_csv(heads()), HasSubstr("3,L3 H3,nan,\r\n"));
}

TEST(Table, TsvCellsHoldNoTabsNorLineEnds) {
  Table table{"a\tb", "c"};
  add_row(table, "x\r\ny", ",");
  EXPECT_EQ(to_tsv(table), "a b\tc\nx  y\t,\n");
}

TEST(Table, TextAlignsDecimalsAndWideCharacters) {
  EXPECT_EQ(to_text(heads()),
            "value: 0.5 bits\n"
            "token: ·it\n"
            "\n"
            "layer  head    loss in bits  token\n"
            "    0  L0 H1         1.5000  日本\n"
            "   10  L10 H0                a\n"
            "    2  L2 H3       -20.2500  ·b\n"
            "    3  L3 H3            nan\n");
}

TEST(Table, StrongestRowsComeFirstAndThoseWithoutANumberLast) {
  Table table = heads();
  EXPECT_EQ(numbers_of(strongest(table, 2), "layer"), (std::vector<double>{0, 10})) << "in their order";
  table.ranked_by = "loss";
  EXPECT_EQ(numbers_of(strongest(table, 0), "layer"), (std::vector<double>{2, 0, 10, 3}));
}

TEST(Table, JsonHasNullForWhatIsNotFiniteAndWholeNumbersWhole) {
  EXPECT_EQ(table_json(heads()).dump(),
            R"({"facts":{"value":0.5,"token":"·it"},"columns":{"layer":[0,10,2,3],)"
            R"("head":["L0 H1","L10 H0","L2 H3","L3 H3"],"loss":[1.5,null,-20.25,null],)"
            R"("token":["日本","a","·b",""]},"units":{"value":"bits","loss":"bits"}})");
}

TEST(Table, ColumnsHaveOneTypeAndFloatsTheirOwnDigits) {
  Table table = heads();
  EXPECT_THROW(add_row(table, "zero"), std::logic_error);
  EXPECT_THROW(static_cast<void>(table.at("layers")), std::out_of_range);
  EXPECT_EQ(decimal(0.1F), 0.1);
  EXPECT_TRUE(is_no_number(no_number()));
  EXPECT_FALSE(is_no_number(decimal(std::nanf(""))));
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
