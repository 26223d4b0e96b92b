// All heads: thumbnails read from the picture, compared with the table and the reference.
#include "app/run/analyses/heads.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::heads_test {
namespace {

constexpr double kWeightTolerance = 1e-5;  // between float32 and double

/// The positions in one cell of a thumbnail, if all positions are divided evenly among `cells`.
std::vector<std::size_t> positions_of(int cell, int length, int cells) {
  std::vector<std::size_t> positions;
  for (int position = 0; position < length; ++position)
    if (position * cells / length == cell) positions.push_back(static_cast<std::size_t>(position));
  return positions;
}

/// The largest weight for a cell's queries and its keys from `first_key` on; nothing if all are masked.
std::optional<double> reference_cell(const Scenario& s, int layer, int head, int row, int col, int cells,
                                     std::size_t first_key) {
  const auto& weights = reference_head(s, layer, head).weights;
  std::optional<double> largest;
  for (const std::size_t query : positions_of(row, s.length(), cells)) {
    for (const std::size_t key : positions_of(col, s.length(), cells)) {
      if (key >= first_key && key <= query) largest = std::max(largest.value_or(0), weights[query][key]);
    }
  }
  return largest;
}

/// Reads every cell of some heads' thumbnails with the legend.
void expect_maps(const Scenario& s, const std::vector<std::pair<int, int>>& heads,
                 const NamedOptions& options = {}) {
  const ViewFixture shown("heads", s, 1000, 900, options, light(), 2);
  const bool without_key0 = std::ranges::count(options, NamedOptions::value_type{"without-key0", "yes"}) > 0;
  const auto bars = lying_bars(shown.scene());
  ASSERT_EQ(bars.size(), 1U);
  DrawnPage page = shown.page();
  const DrawnScale scale(page, bars[0]);
  EXPECT_EQ(page.numbers_left(), "");
  for (const auto& [layer, head] : heads) {
    const int map = shown.map_of(layer, head);
    const int cells = shown.region(map).row_count;
    const bool pooled = cells < s.length();
    for (int row = 0; row < cells; ++row) {
      for (int col = 0; col <= row; ++col) {
        SCOPED_TRACE("L" + std::to_string(layer) + " H" + std::to_string(head) + " row " +
                     std::to_string(row) + ", column " + std::to_string(col));
        const auto color = shown.color_of(map, row, col);
        if (without_key0 && !pooled && col == 0) {  // no keys are left
          ASSERT_TRUE(color);
          EXPECT_FALSE(scale.values_of(*color)) << "out of the scale";
          continue;
        }
        const auto expected = reference_cell(s, layer, head, row, col, cells, without_key0 ? 1 : 0);
        EXPECT_TRUE(reads(scale, color, expected.value_or(0)));
      }
      if (row + 1 < cells) {
        EXPECT_FALSE(shown.color_of(map, row, row + 1)) << "masked";
      }
    }
  }
}

TEST(Heads, WhoLooksUpAColourInTheLegendReadsTheWeight) {
  std::vector<std::pair<int, int>> all;
  for (int layer = 0; layer < scenario(23).config().n_layer; ++layer)
    for (int head = 0; head < scenario(23).config().n_head; ++head) all.emplace_back(layer, head);
  expect_maps(scenario(23), all);
  expect_maps(scenario(23), {{0, 0}, {2, 1}, {5, 5}}, {{"without-key0", "yes"}});
  // Thumbnails at the edge are cut off: their cells stay where the mouse finds them.
  expect_maps(scenario(23), {{0, 0}, {1, 1}, {2, 2}},
              {{"heads-zoom", "2"}, {"heads-scroll", "0.4"}, {"heads-scroll-x", "0.3"}});
  // Pooled maps show the largest weight under each cell.
  expect_maps(scenario(100), {{0, 0}, {2, 1}, {3, 4}});
  expect_maps(scenario(100), {{0, 0}, {2, 1}, {3, 4}}, {{"without-key0", "yes"}});
}

TEST(Heads, TheTableHasTheWeightsOfTheReference) {
  for (const int length : {23, 100}) {
    const Scenario& s = scenario(length);
    const Table table = ViewFixture("heads", s, 900, 900).table();
    const int cells = std::min(length, 64), of_head = cells * (cells + 1) / 2;
    const std::vector<double> weights = numbers_of(table, "weight"), layers = numbers_of(table, "layer"),
                              keys = numbers_of(table, "key");
    ASSERT_EQ(std::ssize(weights), of_head * s.config().n_layer * s.config().n_head);
    for (const auto& [layer, head] : {std::pair{0, 0}, {4, 3}}) {
      int at = (layer * s.config().n_head + head) * of_head;
      EXPECT_EQ(layers[at], layer);
      for (int row = 0; row < cells; ++row)
        for (int col = 0; col <= row; ++col, ++at) {
          EXPECT_EQ(keys[at], (col * length + cells - 1) / cells);
          EXPECT_NEAR(weights[at], reference_cell(s, layer, head, row, col, cells, 0).value_or(0),
                      kWeightTolerance);
        }
    }
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

}  // namespace
}  // namespace headscope::app::heads_test
