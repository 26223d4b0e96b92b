// All views on the bundled model: their pictures as values, their texts where they can be read, their regions
// as inverse maps, their numbers against the model's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "app/sinusoidal.h"
#include "model/hooks.h"
#include "tests/app/view_fixture.h"
#include "tests/viz/text_boxes.h"
#include "viz/players.h"

namespace headscope::app {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using viz::testing::fonts;
using viz::testing::items_of;
using viz::testing::text_faults;
using viz::testing::texts;

constexpr const char* kRobot = "A robot must obey the orders given it";

const Scenario& scenario(int length) {
  static std::map<int, Scenario> all;
  return all.try_emplace(length, Scenario::of_length(length)).first->second;
}

class EveryView : public ::testing::TestWithParam<std::string> {
 protected:
  const View& view() const { return *find_view(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Views, EveryView,
                         ::testing::Values("heatmap", "scores", "query", "positions", "heads", "tokens",
                                           "next"),
                         [](const auto& test) { return test.param; });

TEST_P(EveryView, TextsAreWhereTheyCanBeRead) {
  const int n_ctx = bundled()->transformer->config().n_ctx;
  for (const int length : {1, 2, 12, 23, 100, n_ctx}) {
    for (const auto& [width, height] : {std::pair{240.F, 600.F},
                                        {400.F, 300.F},
                                        {640.F, 700.F},
                                        {900.F, 500.F},
                                        {1600.F, 1000.F},
                                        {3800.F, 2000.F}}) {
      for (const float font_size : {11.F, 14.F, 24.F}) {
        const bool large = length == 100 && font_size == 14;
        ViewContext c = scenario(length).context(width, height, large ? dark() : light());
        c.font_size = font_size;
        const viz::Scene scene = with_caption(view().build(c), caption(view(), c), c);
        EXPECT_EQ(text_faults(scene, *fonts()), "") << GetParam() << " " << length << " tokens, " << width
                                                    << " x " << height << ", font " << font_size;
        EXPECT_EQ(scene.width, width);
        EXPECT_GT(scene.height, height);
      }
    }
  }
}

TEST_P(EveryView, TextsAreWhereTheyCanBeReadWithOptions) {
  for (const ValueScale scale : {ValueScale::linear, ValueScale::logarithmic, ValueScale::per_row}) {
    for (const bool without_key0 : {false, true}) {
      ViewContext c = scenario(100).context(700, 600, light());
      c.options.scale = scale;
      c.options.without_key0 = without_key0;
      c.options.zoom = {40.5, 10.25, 20, 20};
      c.options.heads_zoom = 2.5;
      c.options.heads_scroll = 0.4;
      c.options.heads_scroll_x = 1.3;
      c.options.chips_scroll = 2;
      c.options.query_first = 40;
      c.options.strongest_first = without_key0;
      c.options.temperature = 0.3;
      c.options.next_count = 25;
      c.options.dimensions = {0, 1, 5, 17, 40, 41, 42, 43, 44, 100, 9999, -1};
      c.device_scale = 2;
      EXPECT_EQ(text_faults(view().build(c).scene, *fonts()), "") << static_cast<int>(scale) << without_key0;
    }
  }
}

TEST_P(EveryView, RegionsAreInverseMaps) {
  for (const int length : {1, 12, 100}) {
    ViewContext c = scenario(length).context(900, 700, light());
    c.options.zoom = length == 100 ? Zoom{30.5, 20.25, 40, 40} : Zoom{};
    c.options.heads_zoom = length == 100 ? 2 : 1;
    const Picture picture = view().build(c);
    ASSERT_FALSE(picture.regions.empty());
    for (std::size_t i = 0; i < picture.regions.size(); ++i) {
      const viz::Region& region = picture.regions[i];
      EXPECT_GE(region.rect.x, 0);
      EXPECT_GE(region.rect.y, 0);
      EXPECT_LE(region.rect.right(), c.width + 0.5F);
      EXPECT_LE(region.rect.bottom(), c.height + 0.5F);
      int seen = 0;
      for (int row = 0; row < region.row_count; row += 1 + region.row_count / 7) {
        for (int col = 0; col < region.col_count; col += 1 + region.col_count / 7) {
          const viz::Point middle = region.cell_rect(row, col).center();
          if (!region.rect.contains(middle)) continue;
          ++seen;
          const auto hit = viz::hit_test(picture.regions, middle);
          ASSERT_TRUE(hit);
          if (hit->region != static_cast<int>(i)) {
            EXPECT_GT(hit->region, static_cast<int>(i));  // painted over it
            continue;
          }
          EXPECT_EQ(hit->row, row);
          EXPECT_EQ(hit->col, col);
        }
      }
      EXPECT_TRUE(seen > 0 || length == 100);
    }
  }
}

TEST_P(EveryView, EveryRegionAnswersTheMouse) {
  const ViewContext c = scenario(23).context(900, 700, dark());
  const Picture picture = view().build(c);
  for (std::size_t i = 0; i < picture.regions.size(); ++i) {
    const viz::Region& region = picture.regions[i];
    const auto row = static_cast<int>(region.first_row + region.rows / 2),
               col = static_cast<int>(region.first_col + region.cols / 2);
    const Hover hover = view().hover(c, picture, {static_cast<int>(i), row, col});
    EXPECT_FALSE(hover.lines.empty());
    EXPECT_FALSE(hover.status.empty());
    EXPECT_FALSE(hover.overlay.items.empty());
  }
}

TEST_P(EveryView, SaysInWordsWhatIsMissing) {
  ViewContext c = scenario(12).context(500, 400, light());
  c.run = nullptr;
  Picture picture = view().build(c);
  EXPECT_THAT(texts(picture.scene), Contains("no run yet"));
  EXPECT_TRUE(picture.regions.empty());
  EXPECT_TRUE(view().table(c).rows.empty());

  c = scenario(12).context(500, 400, light());
  c.head = nullptr, c.thumbnails = nullptr, c.statistics = nullptr, c.next = nullptr;
  picture = view().build(c);
  EXPECT_EQ(picture.scene.width, 500);
  const bool can_go_without = GetParam() == "positions" || GetParam() == "heads" || GetParam() == "tokens";
  if (can_go_without) {
    EXPECT_FALSE(picture.regions.empty());
  } else {
    EXPECT_THAT(texts(picture.scene), Contains("computing…"));
  }
}

TEST_P(EveryView, DataOfAnotherRunOrHeadIsNotShown) {
  ViewContext c = scenario(12).context(500, 400, light());
  c.head = &scenario(23).head;
  c.next = &scenario(23).next;
  c.statistics = &scenario(23).statistics;
  c.thumbnails = &scenario(23).thumbnails;
  const Picture picture = view().build(c);
  for (std::size_t i = 0; i < picture.regions.size(); ++i)
    view().hover(c, picture, {static_cast<int>(i), 0, 0});
  if (GetParam() == "heatmap" || GetParam() == "scores" || GetParam() == "query" || GetParam() == "next") {
    EXPECT_THAT(texts(picture.scene), Contains("computing…"));
  }
}

TEST_P(EveryView, SameInputSamePicture) {
  const ViewContext c = scenario(23).context(900, 700, light());
  EXPECT_EQ(view().build(c).scene.items, view().build(c).scene.items);
}

TEST_P(EveryView, TinySizesDoNoHarm) {
  for (const auto& [width, height] :
       {std::pair{1.F, 1.F}, {20.F, 500.F}, {500.F, 20.F}, {90.F, 90.F}, {0.F, 0.F}}) {
    for (const int length : {1, 23, 100}) {
      const ViewContext c = scenario(length).context(width, height, light());
      EXPECT_EQ(view().build(c).scene.width, width);
    }
  }
}

TEST(Views, WholeHeightShowsAll) {
  int checked = 0;
  for (const View& view : views()) {
    if (!view.whole_height) continue;  // fits any height
    ++checked;
    ViewContext c = scenario(100).context(600, 200, light());
    const std::size_t before = view.build(c).regions.size();
    c.height = view.whole_height(c);
    const std::size_t whole = view.build(c).regions.size();
    EXPECT_GT(whole, before) << view.id;
    c.height += 4000;
    EXPECT_EQ(view.build(c).regions.size(), whole) << view.id;
    EXPECT_EQ(text_faults(view.build(c).scene, *fonts()), "") << view.id;
  }
  EXPECT_EQ(checked, 3);
}

TEST(Heatmap, ColoursCellsByWeightAndLeavesTheMaskUncoloured) {
  const Scenario s(kRobot);
  const ViewContext c = s.context(700, 600, light());
  const View& view = *find_view("heatmap");
  const Picture picture = view.build(c);
  ASSERT_EQ(picture.regions.size(), 1U);
  const viz::Region& grid = picture.regions[0];
  EXPECT_EQ(grid.id, 3);
  EXPECT_EQ(grid.row_count, s.run.run->length());
  const auto images = items_of<viz::Image>(picture.scene);
  const viz::Bitmap& cells = *images[0].bitmap;
  ASSERT_EQ(cells.width, s.run.run->length());
  for (int q = 0; q < cells.height; ++q) {
    for (int k = 0; k < cells.width; ++k) {
      if (k > q) {
        EXPECT_EQ(cells.at(k, q).a, 0);
      } else {
        const float weight = s.head.stages.pattern[static_cast<std::size_t>(q * cells.width + k)];
        EXPECT_LE(viz::testing::channel_difference(cells.at(k, q),
                                                   viz::sequential(light(), static_cast<double>(weight))),
                  2);
      }
    }
  }
}

TEST(Heatmap, HatchingStaysOutsideTheStairs) {
  const Scenario s(kRobot);
  Picture picture = find_view("heatmap")->build(s.context(700, 600, light()));
  const viz::Bitmap pixels = viz::rasterize(picture.scene, *fonts(), 1);
  const viz::Region& grid = picture.regions[0];
  const auto images = items_of<viz::Image>(picture.scene);
  // Near the corners of a cell on the diagonal, where hatching would show first.
  for (int i = 0; i < grid.row_count; ++i) {
    if (i == s.selection.query) continue;  // framed
    const viz::Rect cell = grid.cell_rect(i, i);
    const viz::Color expected = images[0].bitmap->at(i, i);
    EXPECT_LE(viz::testing::channel_difference(
                  pixels.at(static_cast<int>(cell.right() - 4), static_cast<int>(cell.y + 4)), expected),
              3)
        << i;
  }
}

TEST(Heatmap, HoverTellsTheExactWeightAndTheMask) {
  const Scenario s(kRobot);
  const ViewContext c = s.context(700, 600, light());
  const View& view = *find_view("heatmap");
  const Picture picture = view.build(c);
  const Hover hover = view.hover(c, picture, {0, 5, 2});
  ASSERT_EQ(hover.lines.size(), 4U);
  EXPECT_EQ(hover.lines[0], "query 5 “" + s.run.tokens.labels[5] + "”");
  EXPECT_EQ(hover.lines[1], "key 2 “" + s.run.tokens.labels[2] + "”");
  const float weight = s.head.stages.pattern[static_cast<std::size_t>(5 * s.run.run->length() + 2)];
  EXPECT_EQ(std::stof(hover.lines[2].substr(7)), weight);
  EXPECT_THAT(view.hover(c, picture, {0, 2, 5}).lines, Contains(HasSubstr("masked")));
}

TEST(Heatmap, WithoutKeyZeroItsColumnIsOutsideTheScale) {
  const Scenario s(kRobot);
  ViewContext c = s.context(700, 600, light());
  c.options.without_key0 = true;
  const Picture picture = find_view("heatmap")->build(c);
  const viz::Bitmap& cells = *items_of<viz::Image>(picture.scene)[0].bitmap;
  for (int q = 1; q < cells.height; ++q) EXPECT_EQ(cells.at(0, q), cells.at(0, 0));
  EXPECT_THAT(texts(picture.scene), Contains("key 0"));
}

TEST(Heatmap, FewTokensShowTheirValues) {
  EXPECT_THAT(texts(find_view("heatmap")->build(scenario(2).context(700, 600, light())).scene),
              Contains("1.00"));
  EXPECT_THAT(texts(find_view("heatmap")->build(scenario(100).context(700, 600, light())).scene),
              Not(Contains("1.00")));
}

TEST(Scores, FourGridsOfOneSizeInRowsAndColumns) {
  for (const auto& [width, height] : {std::pair{1600.F, 500.F}, {900.F, 800.F}, {500.F, 1600.F}}) {
    const Picture picture = find_view("scores")->build(scenario(23).context(width, height, light()));
    ASSERT_EQ(picture.regions.size(), 4U);
    for (int i = 0; i < 4; ++i) {
      const viz::Region& region = picture.regions[static_cast<std::size_t>(i)];
      EXPECT_EQ(region.id, i);
      EXPECT_NEAR(region.rect.w, picture.regions[0].rect.w, 0.01);
      EXPECT_TRUE(std::abs(region.rect.x - picture.regions[0].rect.x) < 0.01 ||
                  std::abs(region.rect.y - picture.regions[0].rect.y) < 0.01 || i == 3);
    }
  }
}

TEST(Scores, HoverShowsTheArithmetic) {
  const Scenario s(kRobot);
  const ViewContext c = s.context(1000, 800, light());
  const View& view = *find_view("scores");
  const Picture picture = view.build(c);
  const Hover hover = view.hover(c, picture, {1, 4, 1});
  const int d_head = s.run.run->config.d_head();
  EXPECT_THAT(hover.lines.back(), HasSubstr("× 1/√" + std::to_string(d_head)));
  // Independently, from q and k.
  double dot = 0;
  for (int i = 0; i < d_head; ++i) {
    const auto at = static_cast<std::size_t>(i);
    dot += static_cast<double>(s.run.run->q(s.selection.layer, s.selection.head, 4)[at]) *
           static_cast<double>(s.run.run->k(s.selection.layer, s.selection.head, 1)[at]);
  }
  std::string digits = hover.lines[2].substr(6);
  if (digits.starts_with("−")) digits = "-" + digits.substr(std::string("−").size());
  EXPECT_NEAR(std::stod(digits), dot, 1e-4 * (1 + std::abs(dot)));
  EXPECT_THAT(view.hover(c, picture, {0, 1, 4}).lines, Contains(HasSubstr("−∞")));
  EXPECT_GE(items_of<viz::StrokeRect>(hover.overlay).size(), 4U);
}

TEST(Query, SumOfWeightedValuesIsWhatTheModelComputed) {
  Scenario s(kRobot);
  model::Workspace workspace(1);
  s.select({1, 2, 6}, workspace);
  std::vector<float> z;
  model::Hooks hooks;
  hooks.watch({model::Site::z, 1}, [&](const model::ConstActivation2d& a) {
    if (a.first_pos <= 6 && 6 < a.first_pos + a.rows)
      z.assign(a.row(6 - a.first_pos).begin(), a.row(6 - a.first_pos).end());
  });
  model::ForwardOptions options;
  options.hooks = &hooks;
  s.run.model->transformer->forward(s.run.tokens.ids(), workspace, options);

  const Table table = find_view("query")->table(s.context(900, 700, light()));
  const auto d_head = static_cast<std::size_t>(s.run.run->config.d_head());
  const std::vector<std::string>& sum = table.rows.back();
  ASSERT_EQ(sum.size(), 6 + 3 * d_head);
  EXPECT_EQ(sum[0], "sum");
  EXPECT_NEAR(std::stod(sum[5]), 1, 1e-5);
  ASSERT_FALSE(z.empty());
  for (std::size_t i = 0; i < d_head; ++i) {
    EXPECT_NEAR(std::stod(sum[6 + 2 * d_head + i]), static_cast<double>(z[2 * d_head + i]), 1e-4);
  }
}

TEST(Query, ARowForEachKeyOneLineForThoseBehind) {
  const Scenario s(kRobot);
  ViewContext c = s.context(1200, 700, light());
  c.selection.query = 4;
  model::Workspace workspace(1);
  const Picture picture = find_view("query")->build(c);
  std::vector<int> keys;
  for (const viz::Region& region : picture.regions)
    if (region.role == static_cast<int>(Role::key)) keys.push_back(region.id);
  EXPECT_THAT(keys, ::testing::ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(texts(picture.scene),
              Contains(std::to_string(s.run.run->length() - 5) + " later keys: masked (score −∞, weight 0)"));
}

TEST(Query, StrongestFirstSortsByWeight) {
  ViewContext c = scenario(100).context(1200, 700, light());
  c.options.strongest_first = true;
  const Picture picture = find_view("query")->build(c);
  float before = 2;
  for (const viz::Region& region : picture.regions) {
    if (region.role != static_cast<int>(Role::key)) continue;
    const float weight =
        scenario(100).head.stages.pattern[static_cast<std::size_t>(c.selection.query * 100 + region.id)];
    EXPECT_LE(weight, before);
    before = weight;
  }
  EXPECT_LT(before, 2);
}

TEST(Query, LongPromptsScroll) {
  ViewContext c = scenario(100).context(900, 500, light());
  const View& view = *find_view("query");
  EXPECT_EQ(view.build(c).regions[1].id, 0);  // after the query's own vector
  c.options.query_first = 30;
  EXPECT_EQ(view.build(c).regions[1].id, 30);
  c.options.query_first = 5000;
  const Picture end = view.build(c);
  int last = -1;
  for (const viz::Region& region : end.regions)
    if (region.role == static_cast<int>(Role::key)) last = region.id;
  EXPECT_EQ(last, c.selection.query);
}

TEST(Positions, SinusoidsAreThoseOfThePaper) {
  constexpr int kPositions = 1024, kDimensions = 96;
  const std::vector<float> encoding = sinusoidal_encoding(kPositions, kDimensions);
  for (const int pos : {0, 1, 2, 17, 500, 1023}) {
    for (int i = 0; 2 * i < kDimensions; ++i) {
      const long double angle = pos / std::pow(10000.0L, 2.0L * i / kDimensions);
      EXPECT_NEAR(encoding[static_cast<std::size_t>(pos * kDimensions + 2 * i)],
                  static_cast<double>(std::sin(angle)), 1e-6);
      EXPECT_NEAR(encoding[static_cast<std::size_t>(pos * kDimensions + 2 * i + 1)],
                  static_cast<double>(std::cos(angle)), 1e-6);
    }
  }
  for (const int d : {0, 1, 50, 95})
    EXPECT_NEAR(sinusoidal_value(777, d, kDimensions),
                encoding[static_cast<std::size_t>(777 * kDimensions + d)], 1e-6);
}

TEST(Positions, NeverCallsTheSinusoidsGpt2s) {
  for (const float width : {240.F, 400.F, 900.F, 2000.F}) {
    const auto all = texts(find_view("positions")->build(scenario(12).context(width, 700, light())).scene);
    std::string joined;
    for (const std::string& text : all) joined += text + " ";
    EXPECT_THAT(joined, HasSubstr("Vaswani et al. 2017"));
    EXPECT_THAT(joined, HasSubstr("not GPT-2's"));
  }
}

TEST(Positions, TableHoldsTheModelsOwnNumbers) {
  ViewContext c = scenario(12).context(900, 700, light());
  c.options.dimensions = {3, 7};
  const Table table = find_view("positions")->table(c);
  const model::Config& config = c.run->run->config;
  ASSERT_EQ(table.rows.size(), static_cast<std::size_t>(config.n_ctx));
  EXPECT_EQ(std::stof(table.rows[9][2]),
            bundled()->transformer->position_embedding()[static_cast<std::size_t>(9 * config.n_embd + 7)]);
  EXPECT_NEAR(std::stod(table.rows[9][3]), std::cos(9 / std::pow(10000.0, 2.0 / config.n_embd)), 1e-6);
}

TEST(Next, BarsAreTheMostProbableTokensAndTheRest) {
  Scenario s(kRobot);
  model::Workspace workspace(1);
  s.select({0, 0, 5}, workspace);
  ViewContext c = s.context(420, 700, light());
  c.options.next_count = 5;
  const View& view = *find_view("next");
  const Picture picture = view.build(c);
  const model::PositionStatistics& expected = s.statistics.positions[5];
  ASSERT_GE(picture.regions.size(), 5U);
  const Table table = view.table(c);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(picture.regions[i].id, expected.top[i].id);
    EXPECT_NEAR(std::stod(table.rows[i][5]), expected.top[i].probability, 1e-6);
  }
  EXPECT_THAT(texts(picture.scene), Contains(HasSubstr("follows in the prompt, guess " +
                                                       std::to_string(expected.next_rank + 1) + " of ")));
  EXPECT_THAT(texts(picture.scene), Contains(HasSubstr("all other ")));
}

TEST(Next, TheTokenThatFollowsIsShownHoweverImprobable) {
  Scenario s("The king zebra");
  model::Workspace workspace(1);
  for (int query = 0; query + 1 < s.run.run->length(); ++query) {
    s.select({0, 0, query}, workspace);
    ViewContext c = s.context(420, 600, light());
    c.options.next_count = 2;
    const Picture picture = find_view("next")->build(c);
    const int actual = s.run.tokens.tokens[static_cast<std::size_t>(query) + 1].id;
    EXPECT_TRUE(std::any_of(picture.regions.begin(), picture.regions.end(),
                            [&](const viz::Region& r) { return r.id == actual; }));
  }
}

TEST(Next, TemperatureSharpens) {
  ViewContext c = scenario(12).context(420, 600, light());
  const View& view = *find_view("next");
  const double warm = std::stod(view.table(c).rows[0][5]);
  c.options.temperature = 0.5;
  EXPECT_GT(std::stod(view.table(c).rows[0][5]), warm);
}

TEST(Tokens, AChipForEachTokenAlsoBeyondTheContext) {
  const int n_ctx = bundled()->transformer->config().n_ctx;
  const Scenario s = Scenario::of_length(n_ctx + 30);
  ViewContext c = s.context(800, 100, light());
  const View& view = *find_view("tokens");
  c.height = view.whole_height(c);
  const Picture picture = view.build(c);
  ASSERT_EQ(picture.regions.size(), static_cast<std::size_t>(n_ctx + 30));
  const Hover beyond = view.hover(c, picture, {n_ctx + 5, 0, 0});
  EXPECT_THAT(beyond.lines, Contains(HasSubstr("not run")));
  const Hover within = view.hover(c, picture, {5, 0, 0});
  EXPECT_THAT(within.lines, Contains(HasSubstr("the model found it")));
  EXPECT_THAT(within.lines, Contains(HasSubstr("weight from query")));
}

TEST(Tokens, LineEndsBreakLinesAndScrollingFollows) {
  const Scenario s("one\ntwo\nthree\nfour\nfive\nsix");
  ViewContext c = s.context(800, 60, light());
  const ChipLines lines = chip_lines(c);
  EXPECT_EQ(lines.count, 6);
  EXPECT_EQ(lines.of_query, 5);
  const View& view = *find_view("tokens");
  const int first = view.build(c).regions.front().id;
  EXPECT_EQ(first, 0);
  c.options.chips_scroll = 100;
  const Picture end = view.build(c);
  EXPECT_EQ(end.regions.back().id, s.run.run->length() - 1);
  EXPECT_GT(end.regions.front().id, 0);
}

TEST(Tokens, BytesThatAreNoTextAreNamed) {
  const Scenario s("a\xE2\x82 b");
  const auto all = texts(find_view("tokens")->build(s.context(800, 60, light())).scene);
  std::string joined;
  for (const std::string& text : all) joined += text;
  EXPECT_THAT(joined, HasSubstr("<E2>"));
}

TEST(Heads, ARegionForEachHeadAndExactMeans) {
  const Scenario s(kRobot);
  const ViewContext c = s.context(300, 300, light());
  const View& view = *find_view("heads");
  const Picture picture = view.build(c);
  const model::Config& config = s.run.run->config;
  ASSERT_EQ(picture.regions.size(), static_cast<std::size_t>(config.n_layer * config.n_head));
  const Hover hover = view.hover(c, picture, {config.n_head + 2, 3, 1});
  EXPECT_EQ(hover.lines[0], "L1 H2");
  EXPECT_THAT(hover.lines, Contains(HasSubstr("mean weight on the first token")));
  EXPECT_EQ(hover.card.width, 220);
  EXPECT_FALSE(hover.card.items.empty());
}

TEST(Heads, LargeModelsFitSmallPanes) {
  // The layout of 48 x 25 heads, on tokens of a small model: only the grid depends on the numbers of layers
  // and heads.
  Scenario s(kRobot);
  auto larger = std::make_shared<model::Run>(*s.run.run);
  larger->config.n_layer = 48;
  larger->config.n_head = 25;
  s.run.run = larger;
  s.thumbnails.of_head.assign(48 * 25, s.thumbnails.of_head[0]);
  for (const float width : {220.F, 500.F, 1600.F}) {
    for (const double zoom : {1.0, 4.0}) {
      ViewContext c = s.context(width, 600, light());
      c.options.heads_zoom = zoom;
      c.options.heads_scroll = 20;
      const Picture picture = find_view("heads")->build(c);
      EXPECT_EQ(text_faults(picture.scene, *fonts()), "") << width << " " << zoom;
      if (zoom == 1) {
        EXPECT_EQ(picture.regions.size(), 48U * 25U);
      } else {
        EXPECT_LT(picture.regions.size(), 48U * 25U);
      }
    }
  }
}

}  // namespace
}  // namespace headscope::app
