// All heads: thumbnails read from the picture, compared with the table and the reference.
#include "app/run/analyses/thumbnails.h"
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
  const auto bars = upright_bars(shown.scene());
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
}

TEST(Heads, PooledMapsShowTheLargestWeightWithAndWithoutKeyZero) {
  expect_maps(scenario(100), {{0, 0}, {2, 1}, {3, 4}});
  expect_maps(scenario(100), {{0, 0}, {2, 1}, {3, 4}}, {{"without-key0", "yes"}});
}

TEST(Heads, TheTableHasTheWeightsOfTheReference) {
  for (const int length : {23, 100}) {
    const Scenario& s = scenario(length);
    const Table table = ViewFixture("heads", s, 900, 900).table();
    const int cells = static_cast<int>(table.header.size()) - 3;
    ASSERT_EQ(cells, std::min(length, 64));
    for (const auto& [layer, head] : {std::pair{0, 0}, {4, 3}}) {
      for (int row = 0; row < cells; ++row) {
        const auto& found = table.rows[(layer * s.config().n_head + head) * cells + row];
        EXPECT_EQ(found[0], std::to_string(layer));
        EXPECT_EQ(found[1], std::to_string(head));
        for (int col = 0; col < cells; ++col) {
          const std::string& cell = found[col + 3];
          if (col > row) {
            EXPECT_EQ(cell, "");
          } else {
            EXPECT_NEAR(std::stod(cell), reference_cell(s, layer, head, row, col, cells, 0).value_or(0),
                        kWeightTolerance);
          }
        }
      }
    }
  }
}

TEST(Heads, ARegionForEachHeadAndExactMeans) {
  for (const int length : {2, 23, 100}) {
    const Scenario& s = scenario(length);
    const ViewFixture shown("heads", s, 300, 300);
    const Table table = shown.table();
    const int cells = std::min(length, 64);
    const auto queries = static_cast<std::size_t>(length);
    for (int layer = 0; layer < s.config().n_layer; ++layer) {
      for (int head = 0; head < s.config().n_head; ++head) {
        const std::string name = "L" + std::to_string(layer) + " H" + std::to_string(head);
        SCOPED_TRACE(name + " of " + std::to_string(length) + " tokens");
        const int map = shown.map_of(layer, head);
        ASSERT_GE(map, 0);
        const int row = cells - 1, col = cells / 3;
        const std::vector<std::string> lines = shown.tooltip(map, row, col);
        EXPECT_EQ(lines[0], name);
        EXPECT_TRUE(agree(number_after(lines, "weight "),
                          table.rows[(layer * s.config().n_head + head) * cells + row][col + 3],
                          reference_cell(s, layer, head, row, col, cells, 0).value_or(0), kWeightTolerance));
        double first = 0, previous = 0, self = 0;
        const auto& weights = reference_head(s, layer, head).weights;
        for (std::size_t query = 1; query < queries; ++query) {
          first += weights[query][0] / (length - 1);
          previous += weights[query][query - 1] / (length - 1);
          self += weights[query][query] / (length - 1);
        }
        for (const auto& [words, mean] : {std::pair{"mean weight on the first token ", first},
                                          {"on the previous ", previous},
                                          {"on itself ", self}}) {
          const auto shown_mean = number_after(lines, words);
          ASSERT_TRUE(shown_mean) << words;
          EXPECT_NEAR(shown_mean->value, mean, shown_mean->rounding + kWeightTolerance) << words;
        }
      }
    }
    EXPECT_EQ(shown.map_of(s.config().n_layer, 0), -1);
  }
}

TEST(Heads, TheCardIsTheMapAtALargerSize) {
  const ViewFixture shown("heads", scenario(23), 900, 900);
  const int map = shown.map_of(3, 2);
  const viz::Scene card = shown.card(map, 20, 20);
  EXPECT_EQ(card.width, 220);
  for (int row = 0; row < 23; ++row) {
    for (int col = 0; col < 23; ++col) {
      const auto image = items_of<viz::Image>(card).at(0);
      const viz::Point middle{image.dest.x + image.dest.w * (static_cast<float>(col) + 0.5F) / 23,
                              image.dest.y + image.dest.h * (static_cast<float>(row) + 0.5F) / 23};
      EXPECT_EQ(image_color_at(card, middle), shown.color_of(map, row, col)) << row << " " << col;
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
  EXPECT_EQ(view.table(c).rows.size(), 3U * 23U);
}

TEST(Heads, MapsOfThePreviousRunFadeAndAreNoNumbersOfThisOne) {
  const Scenario& s = scenario(23);
  Thumbnails some = *s.ask(ThumbnailsOfHeads{});
  some.done = 3;  // the others are the previous run's
  OneAnswer answers(ThumbnailsOfHeads{}, some, false);
  ViewContext c = s.context(900, 900);
  const View& view = *find_view("heads");
  const auto fills = [&] { return items_of<viz::FillRect>(view.build(c).scene).size(); };
  const std::size_t whole = fills();
  c.answers = &answers;
  EXPECT_EQ(fills(), whole + some.of_head.size() - 3);
  const Picture picture = view.build(c);
  for (int i = 0; i < static_cast<int>(picture.regions.size()); ++i)
    EXPECT_EQ(view.facts(c, picture, {i, 0, 0}).tooltip().back() == "computing…", i >= 3) << i;
  EXPECT_EQ(view.table(c).rows.size(), 3U * 23U);
}

TEST(Heads, LargeModelsFitSmallPanes) {
  // The layout of 48 x 25 heads, with the tokens of a small model: only the grid depends on the numbers of
  // layers and heads.
  Scenario s(kRobot);
  auto larger = std::make_shared<model::Run>(*s.run->run);
  larger->config.n_layer = 48;
  larger->config.n_head = 25;
  auto run = std::make_shared<PromptRun>(*s.run);
  run->run = larger;
  Thumbnails thumbnails;
  thumbnails.of_head.assign(48 * 25, s.ask(ThumbnailsOfHeads{})->of_head[0]);
  OneAnswer answers(ThumbnailsOfHeads{}, thumbnails);
  for (const float width : {220.F, 500.F, 1600.F}) {
    for (const double zoom : {1.0, 4.0}) {
      ViewContext c = s.context(width, 600);
      c.run = run;
      c.answers = &answers;
      set(c, "heads-zoom", std::to_string(zoom));
      set(c, "heads-scroll", "20");
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

TEST(Heads, ArrowsMoveTheHeadAndBringItIntoSight) {
  Scenario s(scenario(12).run->prompt);
  const int layers = s.config().n_layer, heads = s.config().n_head;
  s.select({2, 1});
  const ViewFixture shown("heads", s, 400, 500);
  EXPECT_EQ(in_words(shown.press(Key::up)), "head by -1 0");
  EXPECT_EQ(in_words(shown.press(Key::down)), "head by 1 0");
  EXPECT_EQ(in_words(shown.press(Key::left)), "head by 0 -1");
  EXPECT_EQ(in_words(shown.press(Key::right)), "head by 0 1");
  EXPECT_EQ(in_words(shown.press(Key::home)), "head by 0 -1");
  EXPECT_EQ(in_words(shown.press(Key::end)), "head by 0 " + std::to_string(heads - 2));
  EXPECT_EQ(in_words(shown.press(Key::page_up)), "head by -2 0");
  EXPECT_EQ(in_words(shown.press(Key::page_down)), "head by " + std::to_string(layers - 3) + " 0");

  ViewContext c = s.context(400, 500);
  c.in_pane = true;
  set(c, "heads-zoom", "3");
  const View& view = *find_view("heads");
  for (const auto& [key, layer, head] :
       {std::tuple{Key::page_down, layers - 1, 1}, {Key::end, 2, heads - 1}}) {
    ViewContext moved = c;
    for (const ViewAction& action : view.on(c, view.build(c), nullptr, {Gesture::Kind::key, {}, {}, {}, key}))
      if (const auto* set = std::get_if<SetOption>(&action)) moved.options.set(*set->option, set->value);
    const Picture picture = view.build(moved);
    const auto whole = std::ranges::find_if(picture.regions, [&,
                                                              id = layer * heads + head](const auto& region) {
      return region.id == id && region.rows > region.row_count - 0.1 && region.cols > region.col_count - 0.1;
    });
    EXPECT_NE(whole, picture.regions.end()) << "all of the map";
  }
}

TEST(Heads, LargerMapsSmallerMapsAndAllOfThem) {
  const View& view = *find_view("heads");
  ViewContext c = scenario(12).context(400, 500);
  ASSERT_GE(view.commands.size(), 2U);
  const auto& [size, all] = std::tie(view.commands[0], view.commands[1]);
  EXPECT_TRUE(all.act(c, 0).empty()) << "all are in sight";
  const auto zoom_after = [&](const ViewActions& actions) {
    for (const ViewAction& action : actions)
      if (const auto* set = std::get_if<SetOption>(&action); set && set->option->name == "heads-zoom")
        return std::get<double>(set->value);
    return 0.0;
  };
  EXPECT_GT(zoom_after(size.act(c, 0)), 1);
  EXPECT_EQ(zoom_after(size.act(c, 1)), 1) << "no smaller than all of them";
  set(c, "heads-zoom", "3");
  EXPECT_LT(zoom_after(size.act(c, 1)), 3);
  EXPECT_EQ(zoom_after(all.act(c, 0)), 1);
}

TEST(Heads, TheMenuShowsAHead) {
  const ViewFixture shown("heads", scenario(12), 400, 500, {{"heads-zoom", "2"}});
  EXPECT_EQ(in_words(shown.choose("Show L1 H2", shown.map_of(1, 2))), "head 1 2");
  EXPECT_EQ(in_words(shown.choose("Show all heads", shown.map_of(1, 2))), "heads-zoom 1");
}

}  // namespace
}  // namespace headscope::app::heads_test
