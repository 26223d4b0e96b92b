// Heads, their map, its stages and lines against the reference; tables, keys and pinned tokens.
#include "app/run/analyses/heads.h"
#include "app/run/analyses/patterns.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "viz/charts/heatmap.h"

namespace headscope::app::maps_test {
namespace {

TEST(Heads, TheTableHasTheCellsOfTheThumbnails) {
  for (const int length : {23, 100}) {
    const Scenario& s = scenario(length);
    const Table table = table_of("heads", s);
    const auto thumbnails = s.ask(ThumbnailsOfHeads{});
    const int cells = std::min(length, 64);
    const std::vector<double> weights = numbers_of(table, "weight"), heads = numbers_of(table, "head"),
                              keys = numbers_of(table, "key");
    std::size_t at = 0;
    for (std::size_t i = 0; i < thumbnails->of_head.size(); ++i)
      for (int row = 0; row < cells; ++row)
        for (int col = 0; col <= row; ++col, ++at) {
          ASSERT_LT(at, weights.size());
          EXPECT_EQ(heads[at], i % 8);
          EXPECT_EQ(keys[at], (col * length + cells - 1) / cells);
          EXPECT_EQ(weights[at], decimal(thumbnails->of_head[i]->values[row * cells + col]));
        }
    EXPECT_EQ(at, weights.size());
  }
}

TEST(Heads, ThoseThatAreNotThereYetKeepTheirPlaces) {
  const Scenario& s = scenario(23);
  Thumbnails some = *s.ask(ThumbnailsOfHeads{});
  some.done = 3;
  for (std::size_t i = 3; i < some.of_head.size(); ++i) some.of_head[i] = nullptr;
  some.of_head[4] =
      scenario(12).ask(ThumbnailsOfHeads{})->of_head[4];  // from a previous run, with another size
  OneAnswer answers(ThumbnailsOfHeads{}, some, false);
  ViewContext c = s.context(900, 900);
  const View& view = *find_view("heads");
  const std::size_t whole = view.build(c).regions.size();
  c.answers = &answers;
  const Picture picture = view.build(c);
  ASSERT_EQ(picture.regions.size(), whole);
  EXPECT_EQ(items_of<viz::Image>(picture.scene).size(), 3U + 1) << "three maps and the scale";
  for (std::size_t i = 0; i < whole; ++i) {
    const std::vector<std::string> lines = view.facts(c, picture, {static_cast<int>(i), 0, 0}).tooltip();
    EXPECT_EQ(lines.back() == "computing…", i >= 3) << i;
  }
  EXPECT_EQ(view.table(c).rows(), 3U * 23U * 24U / 2U);
}

TEST(Heads, KeysBringTheHeadIntoSight) {
  const Scenario s(scenario(12).run->prompt, {2, 1});
  const int layers = s.config().n_layer, heads = s.config().n_head;
  ViewContext c = s.context(400, 500);
  c.in_pane = true;
  set(c, "heads-zoom", "3");
  const View& view = *find_view("heads");
  for (const auto& [key, id] :
       {std::pair{Key::page_down, (layers - 1) * heads + 1}, {Key::end, 2 * heads + heads - 1}}) {
    ViewContext moved = c;
    for (const ViewAction& action : view.on(c, view.build(c), nullptr, {Gesture::Kind::key, {}, {}, {}, key}))
      if (const auto* set = std::get_if<SetOption>(&action)) moved.options.set(*set->option, set->value);
    const Picture picture = view.build(moved);
    EXPECT_TRUE(std::ranges::any_of(picture.regions, [&, id = id](const viz::Region& region) {
      return region.id == id && region.rows > region.row_count - 0.1 && region.cols > region.col_count - 0.1;
    })) << "all of the map";
  }
}

constexpr double kWeightTolerance = 1e-5;  // between float32 and double

TEST(Heatmap, WhoLooksUpAColourInTheLegendReadsTheWeight) {
  const Scenario& s = scenario(23);
  const auto& weights = reference_head(s).weights;
  for (const char* value_scale : {"linear", "log", "row"}) {
    for (const auto& [without_key0, most] : {std::pair(false, "auto"), {true, "auto"}, {true, "0.2"}}) {
      SCOPED_TRACE(std::string(value_scale) + (without_key0 ? " without key 0, most " : ", most ") + most);
      const ViewFixture shown(
          "heatmap", s.context(900, 800, without_key0 ? dark() : light()),
          {{"value-scale", value_scale}, {"without-key0", without_key0 ? "yes" : "no"}, {"value-max", most}});
      const int grid = shown.grid();
      const auto bar = color_bar_of(shown.scene(), shown.region(grid).rect);
      ASSERT_TRUE(bar);
      DrawnPage page = shown.page();
      const bool logarithmic = value_scale == std::string("log");
      const DrawnScale scale(page, *bar,
                             logarithmic ? DrawnScale::Kind::logarithmic : DrawnScale::Kind::linear);
      if (most != std::string("auto")) {
        EXPECT_NEAR(scale.high(), 0.2, 1e-6);
      }
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
    for (int query = 0; query < 12; ++query)
      for (int key = 0; key < 12; ++key)
        EXPECT_EQ((table[{query, key}]), key > query ? "" : plain(answer->matrix().at(query, key)));
  }
}

TEST(Heatmap, SeveralHeadsAreTheReferencesMeanOrTheirLargest) {
  const Scenario clean(kRobot);
  const int layers = clean.config().n_layer, heads = clean.config().n_head;
  for (const std::string of : {"layer-mean", "mean", "layer-max"}) {
    SCOPED_TRACE(of);
    const NamedOptions options{{"of", of}}, of_lines{{"of", of}, {"threshold", "0"}, {"all-queries", "yes"}};
    auto weights = matrix_of(table_of("heatmap", clean, options), "weight");
    const Table scores = table_of("scores", clean, options);
    auto masked = matrix_of(scores, "masked"), pattern = matrix_of(scores, "weight");
    const auto lines = text_rows(table_of("lines", clean, of_lines));
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

TEST(Scores, AreInARowAboveTheirNumbersWhereverThatFits) {
  constexpr int kRow = 1;
  for (const int length : {2, 12, 100})
    for (const auto& [width, height] : {std::pair{500.F, 400.F}, {680.F, 500.F}, {950.F, 450.F}}) {
      const ViewFixture shown("scores", scenario(length), width, height);
      const auto map = [&](int stage) { return shown.region(shown.grid(stage)).rect; };
      const std::vector<int> rows = shown.all_of(kRow);
      ASSERT_GE(rows.size(), 2U) << length << " tokens, " << width;
      for (int stage = 1; stage < 4; ++stage) EXPECT_EQ(map(stage).y, map(0).y);
      EXPECT_GT(map(3).right(), 0.7F * width) << "the room is used";
      const float below = shown.region(rows[0]).rect.y - map(0).bottom();
      EXPECT_TRUE(below > 0 && below < 120) << below;
    }
}

constexpr int kQueries = 0, kKeys = 1;

TEST(Lines, TheTableHasAllWeightsFromTheThresholdOnOfEachHead) {
  const Scenario s(kRobot);
  const auto rows = text_rows(
      table_of("lines", s, {{"line-heads", "2.1, 0.3"}, {"threshold", "0.05"}, {"all-queries", "yes"}}));
  std::vector<std::vector<std::string>> expected;
  for (const auto& [layer, head] : {std::pair{2, 1}, {0, 3}}) {
    const auto pattern = s.ask(PatternOf{layer, head});
    for (int query = 0; query < s.length(); ++query)
      for (int key = 0; key <= query; ++key)
        if (const float weight = pattern->matrix().at(query, key); weight >= 0.05F)
          expected.push_back({head_name(layer, head), std::to_string(query), s.run->tokens.labels[query],
                              std::to_string(key), s.run->tokens.labels[key], plain(weight)});
  }
  EXPECT_THAT(rows, ::testing::UnorderedElementsAreArray(expected));
}

TEST(Lines, EveryWeightOfTheTableIsDrawnAndNamedByItsHead) {
  const Scenario s(kRobot);
  const NamedOptions options{{"line-heads", "2.1,0.3"}, {"all-queries", "yes"}};
  const ViewFixture shown("lines", s, 900, 700, options);
  const std::size_t weights = shown.table().rows();
  const viz::Region& queries = shown.region(shown.find(kQueries));
  std::size_t lines = 0;
  for (const viz::Segments& item : items_of<viz::Segments>(shown.scene()))
    for (std::size_t i = 0; i + 1 < item.points.size(); i += 2)
      lines += item.points[i + 1].x - item.points[i].x > 100 && item.points[i].x < queries.rect.right();
  EXPECT_EQ(lines, weights);
  const auto written = texts(shown.scene());
  for (const char* name : {"L2 H1", "L0 H3"}) EXPECT_EQ(std::ranges::count(written, name), 1) << name;
  EXPECT_EQ(std::ranges::count(written, std::to_string(weights) + " weights of at least 0.02"), 1);

  const ViewFixture arcs("lines", s, 900, 700,
                         {{"arrangement", "arcs"}, {"threshold", "0.2"}, {"all-queries", "yes"}});
  const auto is_curve = [](const viz::Polyline& line) { return line.points.size() > 2; };
  EXPECT_EQ(std::ranges::count_if(items_of<viz::Polyline>(arcs.scene()), is_curve),
            static_cast<std::ptrdiff_t>(arcs.table().rows()));
}

/// A prompt of that length, with a model of ten heads.
const Scenario& many_heads(int length) {
  static const Scenario all = [length] {
    const TemporaryFolder folder;
    write_other_model(folder,
                      {.layers = 2, .heads = 5, .width = 20, .positions = length, .vocabulary = 4096});
    std::vector<int> ids(length);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int>(i * 37 % 4000);
    return Scenario(Prompt{"", ids, false}, {0, 0, -1}, load_model(folder.path(), {}));
  }();
  return all;
}

TEST(Lines, TheTableIsBoundedAndSaysSo) {
  const Scenario& s = many_heads(1024);
  const Table table = table_of("lines", s, {{"threshold", "0"}, {"all-queries", "yes"}});
  ASSERT_EQ(table.rows(), 100'000U);
  EXPECT_EQ(fact_of(table, "weights"), 524'800);
  EXPECT_TRUE(std::ranges::is_sorted(numbers_of(table, "weight"), std::greater{})) << "the strongest first";
}

TEST(Lines, NoMoreHeadsAreDrawnThanMemoryHoldsAndItSaysSo) {
  const ViewFixture shown("lines", many_heads(1024), 900, 700,
                          {{"line-heads", "0.0,0.1,0.2,0.3,0.4,1.0,1.1,1.2"}, {"threshold", "0.5"}});
  EXPECT_THAT(texts(shown.scene()), Contains(HasSubstr("the first 6 of 8 heads; ")));
  EXPECT_THAT(texts(shown.scene()), Contains("Attention of 6 heads"));
  EXPECT_EQ(in_words(find_view("lines")->commands[0].act(shown.context(), 0)),
            "line-heads 0.1,0.2,0.3,0.4,1.0,1.1,1.2");
}

TEST(Lines, ClicksSelectAndTakeBack) {
  Scenario s(kRobot, {1, 2, 6, 3});
  const ViewFixture shown("lines", s, 900, 700, {{"threshold", "0"}});
  EXPECT_THAT(shown.picture().subtitle, AllOf(HasSubstr("from query 6 “"), HasSubstr(" and to key 3 “")));
  const int queries = shown.find(kQueries), keys = shown.find(kKeys);
  EXPECT_EQ(in_words(shown.click(queries, 4)), "query 4, all-queries no");
  EXPECT_EQ(in_words(shown.click(keys, 2)), "key 2, all-queries no");
  EXPECT_EQ(in_words(shown.click(keys, 7)),
            "query " + std::to_string(s.length() - 1) + ", key 7, all-queries no");
  EXPECT_EQ(in_words(shown.click(queries, 6)), "all-queries yes") << "the selected one";
  EXPECT_EQ(in_words(shown.click(keys, 3)), "key -1");
  // The lines from query 6 to its 7 keys, and to key 3 from all other queries that see it.
  std::set<std::pair<std::string, std::string>> lines;
  for (const auto& row : text_rows(shown.table())) {
    EXPECT_TRUE(row[1] == "6" || row[3] == "3");
    EXPECT_TRUE(lines.emplace(row[1], row[3]).second) << "twice";
  }
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(7 + s.length() - 3 - 1));
}

TEST(Lines, CommandsGatherHeads) {
  const Scenario s(kRobot);
  const View& view = *find_view("lines");
  ViewContext c = s.context(900, 700);
  EXPECT_EQ(in_words(view.commands[0].act(c, 0)), "line-heads 2.1");
  set(c, "line-heads", "0.0,2.1");
  EXPECT_EQ(in_words(view.commands[0].act(c, 0)), "line-heads 0.0");
  const std::string layer = in_words(view.commands[1].act(c, 0));
  EXPECT_THAT(layer, HasSubstr("line-heads 2.0,2.1,2.2"));
  set(c, "line-heads", layer.substr(layer.find(' ') + 1));
  EXPECT_EQ(in_words(view.commands[1].act(c, 0)), "line-heads chosen");
}

}  // namespace
}  // namespace headscope::app::maps_test
