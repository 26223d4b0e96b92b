// The heatmap: numbers and colours read from the picture, compared with the table and the reference.

#include "viz/charts/heatmap.h"
#include "app/run/analyses/patterns.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::heatmap_test {
namespace {

constexpr double kWeightTolerance = 1e-5;  // between float32 and double

TEST(Heatmap, NumbersInTheCellsAreThoseOfTheTableAndTheReference) {
  const Scenario s("The king and his");
  const auto length = static_cast<std::size_t>(s.length());
  const ViewFixture shown("heatmap", s, 900, 800);
  const viz::Region& grid = shown.region(shown.grid());
  auto table = matrix_of(shown.table(), "weight");
  const auto& weights = reference_head(s).weights;
  DrawnPage page = shown.page();
  ASSERT_LE(length, 8U) << "too many for numbers in the cells";
  for (std::size_t query = 0; query < length; ++query) {
    for (std::size_t key = 0; key < length; ++key) {
      const auto drawn = page.take(grid.cell_rect(static_cast<int>(query), static_cast<int>(key)));
      ASSERT_EQ(drawn.size(), key > query ? 0U : 1U) << query << " " << key;
      if (key <= query) {
        EXPECT_TRUE(
            agree(drawn[0].text, table[std::pair(query, key)], weights[query][key], kWeightTolerance));
      }
    }
  }
  const auto bar = color_bar_of(shown.scene(), grid.rect);
  ASSERT_TRUE(bar);
  const DrawnScale scale(page, *bar);
  EXPECT_NEAR(scale.low(), 0, 0.01);
  EXPECT_NEAR(scale.high(), 1, 0.01);
  EXPECT_EQ(page.numbers_left(), "");
  EXPECT_NE(page.take("Attention pattern of L2 H1"), "");
}

TEST(Heatmap, WhoLooksUpAColourInTheLegendReadsTheWeight) {
  const Scenario& s = scenario(23);
  const auto& weights = reference_head(s).weights;
  for (const char* value_scale : {"linear", "log", "row"}) {
    for (const bool without_key0 : {false, true}) {
      SCOPED_TRACE(std::string(value_scale) + (without_key0 ? " without key 0" : ""));
      const ViewFixture shown("heatmap", s, 900, 800,
                              {{"value-scale", value_scale}, {"without-key0", without_key0 ? "yes" : "no"}},
                              without_key0 ? dark() : light());
      const int grid = shown.grid();
      const auto bar = color_bar_of(shown.scene(), shown.region(grid).rect);
      ASSERT_TRUE(bar);
      DrawnPage page = shown.page();
      const bool logarithmic = value_scale == std::string("log");
      const DrawnScale scale(page, *bar,
                             logarithmic ? DrawnScale::Kind::logarithmic : DrawnScale::Kind::linear);
      EXPECT_EQ(page.numbers_left(), "");
      const int first_key = without_key0 ? 1 : 0;
      for (int query = 0; query < s.length(); ++query) {
        const auto& row = weights[query];
        const double largest = *std::max_element(row.begin() + first_key, row.end());
        for (int key = 0; key < s.length(); ++key) {
          SCOPED_TRACE("query " + std::to_string(query) + ", key " + std::to_string(key));
          const auto color = shown.color_of(grid, query, key);
          if (key > query) {
            EXPECT_FALSE(color);  // masked
          } else if (key < first_key) {
            ASSERT_TRUE(color);
            EXPECT_EQ(*color, *shown.color_of(grid, 0, 0));
            EXPECT_FALSE(scale.values_of(*color)) << "out of the scale";
          } else {
            const double weight = row[key];
            const double shown_weight = value_scale == std::string("row") ? weight / largest : weight;
            EXPECT_TRUE(reads(scale, color, std::min(shown_weight, scale.high())));
          }
        }
      }
    }
  }
}

TEST(Heatmap, ACellHasTheColourThatItHasInTheGridOfHeadsAndAmongTheScores) {
  for (const Side side : {Side::run, Side::difference})
    for (const auto& [layer, head, most] : {std::tuple{2, 1, "auto"}, {1, 0, "0.1"}, {5, 7, "auto"}}) {
      const Scenario s = edited("L0.attn_out=0", {layer, head, -1});
      const auto drawn = [&](const char* view) {
        ViewContext c = on(side, view, s, 1200, 900);
        set(c, "value-max", most);
        return find_view(view)->build(c);
      };
      const Picture grid = drawn("heads"), map = drawn("heatmap"), scores = drawn("scores");
      const auto tile = std::ranges::find(grid.regions, layer * s.config().n_head + head, &viz::Region::id);
      const auto pattern = std::ranges::find(scores.regions, 3, &viz::Region::id);
      ASSERT_TRUE(tile != grid.regions.end() && pattern != scores.regions.end());
      for (int query = 0; query < s.length(); ++query)
        for (int key = 0; key <= query; ++key) {
          const auto here = image_color_at(map.scene, map.regions.front().cell_rect(query, key).center());
          ASSERT_TRUE(here);
          EXPECT_EQ(here, image_color_at(grid.scene, tile->cell_rect(query, key).center()))
              << layer << " " << head << ": " << query << " " << key;
          EXPECT_EQ(here, image_color_at(scores.scene, pattern->cell_rect(query, key).center()));
        }
    }
}

TEST(Heatmap, ShowsWeightedValuesAndRolloutInPlaceOfWeights) {
  const Scenario& s = scenario(12);
  const auto [layer, head] = std::pair(s.selection.layer, s.selection.head);
  for (const bool rollout : {false, true}) {
    const auto answer = rollout ? s.ask(RolloutOf{layer}) : s.ask(WeightedValuesOf{layer, head});
    const ViewFixture shown("heatmap", s, 900, 800, {{"cell-values", rollout ? "rollout" : "values"}});
    auto table = matrix_of(shown.table(), rollout ? "rollout" : "norm");
    const int grid = shown.grid();
    const auto bar = color_bar_of(shown.scene(), shown.region(grid).rect);
    ASSERT_TRUE(bar);
    DrawnPage page = shown.page();
    const DrawnScale scale(page, *bar);
    for (int query = 0; query < 12; ++query) {
      for (int key = 0; key < 12; ++key) {
        const float value = answer->matrix().at(query, key);
        const std::string& cell = table[{query, key}];
        EXPECT_EQ(cell, key > query ? "" : plain(value));
        if (key > query) continue;
        EXPECT_TRUE(reads(scale, shown.color_of(grid, query, key), static_cast<double>(value)));
      }
    }
  }
}

TEST(Heatmap, SeveralHeadsAreTheReferencesMeanOrTheirLargest) {
  const Scenario s = edited("L1H2.z=0", {2, 1, -1});
  const Scenario clean(kRobot);
  const int layers = clean.config().n_layer, heads = clean.config().n_head;
  for (const std::string of : {"layer-mean", "mean", "layer-max"}) {
    SCOPED_TRACE(of);
    const NamedOptions options{{"of", of}}, of_lines{{"of", of}, {"threshold", "0"}, {"all-queries", "yes"}};
    auto weights = matrix_of(ViewFixture("heatmap", clean, 900, 800, options).table(), "weight");
    const Table scores = ViewFixture("scores", clean, 900, 800, options).table();
    auto masked = matrix_of(scores, "masked"), pattern = matrix_of(scores, "weight");
    const auto lines = text_rows(ViewFixture("lines", clean, 900, 800, of_lines).table());
    EXPECT_EQ(lines.size(), weights.size());
    for (int query = 0; query < clean.length(); ++query)
      for (int key = 0; key <= query; ++key) {
        double mean = 0, score = 0, largest = 0, largest_score = -INFINITY;
        const int first = of == "mean" ? 0 : 2, count = of == "mean" ? layers : 1;
        for (int i = first * heads; i < (first + count) * heads; ++i) {
          const auto& head = reference_head(clean, i / heads, i % heads);
          mean += head.weights[query][key] / (count * heads);
          score += head.scaled[query][key] / (count * heads);
          largest = std::max(largest, head.weights[query][key]);
          largest_score = std::max(largest_score, head.scaled[query][key]);
        }
        const bool max = of == "layer-max";
        EXPECT_NEAR(std::stod(weights[{query, key}]), max ? largest : mean, kWeightTolerance);
        EXPECT_EQ((pattern[{query, key}]), (weights[{query, key}]));
        EXPECT_NEAR(std::stod(masked[{query, key}]), max ? largest_score : score, 1e-4);
      }
    const auto tables = [&](Side side) {
      ViewContext c = on(side, "heatmap", s);
      set(c, "of", of);
      return numbers_of(find_view("heatmap")->table(c),
                        side == Side::difference ? "difference of weight" : "weight");
    };
    const auto after = tables(Side::run), before = tables(Side::baseline),
               differences = tables(Side::difference);
    for (std::size_t i = 0; i < after.size(); ++i)
      EXPECT_NEAR(differences.at(i), after[i] - before.at(i), 1e-7);
  }
}

// A zoomed map scrolls with the selected key, but no farther than necessary.
TEST(Heatmap, TheZoomFollowsTheKeys) {
  const NamedOptions zoomed{{"zoom", "31:51,20:40"}};
  const ViewFixture shown("heatmap", Scenario(scenario(100).run->prompt, {2, 1, 50, 20}), 700, 600, zoomed);
  EXPECT_EQ(in_words(shown.press(Key::up)), "query by -1");
  EXPECT_EQ(in_words(shown.press(Key::down)), "query by 1, zoom 32:52,20:40");
  EXPECT_EQ(in_words(shown.press(Key::home)), "query 0, zoom 0:20,20:40");
  EXPECT_EQ(in_words(shown.press(Key::end)), "query -1, zoom 80:100,20:40");
  EXPECT_EQ(in_words(shown.press(Key::left, true)), "key 19, zoom 31:51,19:39");
  EXPECT_EQ(in_words(shown.press(Key::right, true)), "key 21");
}

}  // namespace
}  // namespace headscope::app::heatmap_test
