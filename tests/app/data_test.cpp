// From a prompt to what the views show; tables as files, and as text; words of views.
#include <nlohmann/json.hpp>

#include "app/run/analyses/heads.h"
#include "app/run/prompt_run.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "viz/scene/scale.h"

namespace headscope::app::data_test {
namespace {

TEST(Tokenize, TheStartTokenStandsForNoBytes) {
  const PromptTokens plain = tokenize(*bundled(), {"a king", {}, false}),
                     started = tokenize(*bundled(), {"a king", {}, true});
  ASSERT_EQ(started.length(), plain.length() + 1);
  EXPECT_EQ(started.tokens[0], (model::Token{*bundled()->tokenizer->end_of_text(), 0, 0}));
  EXPECT_EQ(started.tokens[1], plain.tokens[0]);
  EXPECT_EQ(tokenize(*bundled(), {"", {}, true}).length(), 1) << "the empty prompt is that token alone";
}

std::vector<float> random_pattern(int length) {
  std::mt19937 random(7);
  std::vector<float> pattern(static_cast<std::size_t>(length * length), 0.F);
  for (int q = 0; q < length; ++q) {
    float sum = 0;
    for (int k = 0; k <= q; ++k) sum += pattern[q * length + k] = static_cast<float>(random() % 1000 + 1);
    for (int k = 0; k <= q; ++k) pattern[q * length + k] /= sum;
  }
  return pattern;
}

/// The thumbnail of a complete pattern, passed in blocks like the model's.
Thumbnail make_thumbnail(const std::vector<float>& pattern, int length) {
  constexpr int kBlock = 64;
  ThumbnailMaker maker(length, length);
  const model::ConstFloatRows all{pattern.data(), length, length, length};
  for (int first = 0; first < length; first += kBlock)
    maker.add(first, all.middle_rows(first, std::min(kBlock, length - first)));
  return std::move(maker).finish({});
}

TEST(Thumbnails, KeepEveryCellsLargestWeight) {
  for (const int length : {20, 65, 100, 257}) {
    const std::vector<float> pattern = random_pattern(length);
    const Thumbnail t = make_thumbnail(pattern, length);
    const auto cells = static_cast<std::size_t>(std::min(64, length));
    std::vector<float> expected(cells * cells, 0.F), without(length > 64 ? cells : 0, 0.F);
    for (int q = 0; q < length; ++q)
      for (int k = 0; k <= q; ++k) {
        const float v = pattern[q * length + k];
        const std::size_t row = q * cells / length, col = k * cells / length;
        expected[row * cells + col] = std::max(expected[row * cells + col], v);
        if (length > 64 && col == 0 && k > 0) without[row] = std::max(without[row], v);
      }
    EXPECT_EQ(t.values, expected);
    EXPECT_EQ(t.first_column_without_key0, without);
  }
}

TEST(Thumbnails, KnowTheRangeOfWhatTheyShow) {
  for (const int length : {1, 20, 90}) {
    const Thumbnail t = make_thumbnail(random_pattern(length), length);
    std::vector<float> values = t.values;
    const auto range = [&](int without) {
      return viz::value_range(viz::Matrix::row_major(values, t.rows, t.cols), {true, without});
    };
    const viz::ValueRange all = range(-1);
    EXPECT_EQ(t.range.high, all.high);
    EXPECT_EQ(t.range.smallest_positive, all.smallest_positive);
    for (int row = 0; length == 90 && row < t.rows; ++row)
      values[row * t.cols] = t.first_column_without_key0[row];
    const viz::ValueRange without = range(length == 20 ? 0 : -1);
    EXPECT_EQ(t.range_without_key0.high, without.high) << length;
    EXPECT_EQ(t.range_without_key0.smallest_positive, without.smallest_positive) << length;
  }
}

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

TEST(Words, OfAShareSayAllOfAllAlone) {
  EXPECT_EQ(percent(1), "100.0 %");
  EXPECT_EQ(percent(0.99999), "> 99.99 %");
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
}  // namespace headscope::app::data_test
