// Pages of exported pictures: exactly the requested size, trimmed to the figure, or rejected.

#include <regex>

#include "app/views/export.h"
#include "app/views/output/sampling_options.h"
#include "tests/app/view_fixture.h"
#include "viz/charts/number_axis.h"
#include "viz/scene/content_bounds.h"

namespace headscope::app::page_test {
namespace {

/// The minimum size named in the error for this page.
std::pair<float, float> least_named(const View& view, const ViewContext& c, const ExportOptions& options) {
  try {
    export_scene_of(view, c, options);
  } catch (const std::runtime_error& error) {
    const std::string words = error.what();
    std::smatch found;
    const bool names =
        std::regex_search(words, found, std::regex("the view ([a-z_]+) needs at least (\\d+)x(\\d+)"));
    EXPECT_TRUE(names) << words;
    if (!names) return {0, 0};
    EXPECT_EQ(found[1], std::string(view.name()));
    return {std::stof(found[2]), std::stof(found[3])};
  }
  return {c.width, c.height};
}

class EveryPage : public ::testing::TestWithParam<std::string> {
 protected:
  const View& view() const { return *find_view(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Views, EveryPage,
                         ::testing::Values("heatmap", "scores", "query", "positions", "heads", "tokens",
                                           "next"),
                         [](const auto& test) { return test.param; });

TEST_P(EveryPage, HasExactlyTheSizeAskedForWithTheCaptionInside) {
  for (const int length : {1, 12, 100}) {
    for (const auto& [width, height] : {std::pair{640.F, 480.F}, {900.F, 700.F}, {1000.F, 1300.F}}) {
      for (const bool captioned : {false, true}) {
        const ExportOptions options{.scale = 1.5F, .caption = captioned};
        ViewContext c = scenario(length).context(width, height);
        std::tie(c.width, c.height) = least_named(view(), c, options);
        EXPECT_EQ(c.width, width) << "only tables are longer than a page";
        const viz::Scene scene = export_scene_of(view(), c, options);
        EXPECT_EQ(scene.width, c.width);
        EXPECT_EQ(scene.height, c.height);
        EXPECT_EQ(text_faults(scene, *fonts()), "") << width << "x" << height << " " << length;
        const auto texts = viz::testing::texts(scene);
        EXPECT_EQ(texts.back().starts_with("tales"), captioned);
      }
    }
  }
}

TEST_P(EveryPage, TooSmallForTheFigureIsRefusedWithTheLeastSize) {
  for (const int length : {1, 23, 100}) {
    for (const auto& [width, height] : {std::pair{100.F, 80.F}, {900.F, 60.F}, {60.F, 900.F}}) {
      ViewContext c = scenario(length).context(width, height);
      const auto [least_width, least_height] = least_named(view(), c, {});
      EXPECT_GE(least_width, width);
      EXPECT_GE(least_height, height);
      c.width = least_width;
      c.height = least_height;
      EXPECT_EQ(text_faults(export_scene_of(view(), c, {}), *fonts()), "")
          << least_width << "x" << least_height << " " << length;
      if (least_width > width) {
        c.width = least_width - 1;
        EXPECT_THROW(export_scene_of(view(), c, {}), std::runtime_error) << least_width << " wide";
        c.width = least_width;
      }
      if (least_height > height) {
        c.height = least_height - 1;
        EXPECT_THROW(export_scene_of(view(), c, {}), std::runtime_error) << least_height << " high";
      }
    }
  }
}

std::vector<std::string> all_views() {
  std::vector<std::string> ids;
  for (const View& view : views()) ids.emplace_back(view.id);
  return ids;
}

class EveryFigure : public EveryPage {};
INSTANTIATE_TEST_SUITE_P(Views, EveryFigure, ::testing::ValuesIn(all_views()),
                         [](const auto& test) { return test.param; });

TEST_P(EveryFigure, IsMadeAtTheSizesOfColumnsPagesAndSlides) {
  struct Target {
    float width, height, font_size;
  };
  // 3.3 and 6.5 inches in letters of 6 and 8 points, two notes' figures, a slide.
  for (const Target& target :
       {Target{317, 260, 8}, {624, 400, 10.5F}, {624, 400, 14}, {900, 700, 14}, {1280, 720, 18}}) {
    for (const int length : {1, 17, 100}) {
      ViewContext c = scenario(length).context(target.width, target.height);
      c.font_size = target.font_size;
      SCOPED_TRACE(std::to_string(length) + " tokens, " + viz::number(target.width, 4));
      viz::Scene scene;
      ASSERT_NO_THROW(scene = export_scene_of(view(), c, {.scale = 2}));
      EXPECT_EQ(scene.width, target.width);
      EXPECT_EQ(scene.height, target.height);
      EXPECT_EQ(text_faults(scene, *fonts()), "");
    }
  }
}

TEST(FigureRows, AreLimitedOnEveryPage) {
  for (const char* id : {"query", "metrics", "softmax", "attribution", "sampling", "parameters"}) {
    const View& view = *find_view(id);
    ViewContext c = scenario(23).context(900, 700);
    c.max_rows = 3;
    for (const Page page : {Page::exact, Page::width, Page::trimmed}) {
      c.height = page == Page::exact ? 700 : height_for_width(view, c, 1);
      const viz::Scene scene = export_scene_of(view, c, {.page = page});
      EXPECT_LT(scene.height, 701) << id;
      EXPECT_EQ(view.build(c).rows.all, 3) << id;
      EXPECT_THAT(viz::testing::texts(scene), Contains(HasSubstr(" of "))) << id;
    }
  }
}

TEST_P(EveryPage, FromTheWindowGrowsToTheFigure) {
  ViewContext c = scenario(23).context(120, 90, dark());
  const viz::Scene scene = export_scene_of(view(), c, {.page = Page::at_least});
  EXPECT_EQ(text_faults(scene, *fonts()), "");
  c.width = scene.width;
  c.height = scene.height;
  EXPECT_NO_THROW(export_scene_of(view(), c, {})) << scene.width << "x" << scene.height;
  c = scenario(23).context(900, 700, dark());
  const viz::Scene large = export_scene_of(view(), c, {.page = Page::at_least});
  EXPECT_EQ(large.width, 900) << "only tables are longer than a page";
  EXPECT_GE(large.height, 700);
}

TEST_P(EveryPage, CutToTheFigureHasTheSameMarginAllAround) {
  for (const int length : {1, 12, 100}) {
    const ViewContext c = scenario(length).context(1000, 700);
    const viz::Scene scene = export_scene_of(view(), c, {.caption = false, .page = Page::trimmed});
    const viz::Rect content = viz::content_bounds(scene, *fonts());
    EXPECT_NEAR(scene.height - content.bottom(), content.x, 1.01) << length;
    EXPECT_GE(scene.width - content.right(), content.x - 0.01) << length;
    const viz::Scene page = export_scene_of(view(), c, {.caption = false, .page = Page::at_least});
    EXPECT_LE(scene.width, page.width + 5);
    EXPECT_LE(scene.height, page.height + 5);
    const viz::Scene captioned = export_scene_of(view(), c, {.page = Page::trimmed});
    EXPECT_GE(captioned.width, scene.width);
    EXPECT_GT(captioned.height, scene.height);
    EXPECT_EQ(text_faults(captioned, *fonts()), "") << length;
  }
}

TEST_P(EveryPage, OfAWidthIsAsHighAsItsFigure) {
  for (const int length : {1, 12, 100}) {
    for (const float width : {520.F, 900.F, 1400.F}) {
      SCOPED_TRACE(std::to_string(length) + " tokens, " + std::to_string(width));
      ViewContext c = scenario(length).context(width, 700);
      c.height = height_for_width(view(), c, 1);
      const viz::Scene scene = export_scene_of(view(), c, {.page = Page::width});
      EXPECT_EQ(scene.width, width);
      EXPECT_EQ(text_faults(scene, *fonts()), "");
      const float below = scene.height - viz::content_bounds(scene, *fonts()).bottom();
      EXPECT_TRUE(below >= 0 && below < 40) << below;
    }
  }
}

TEST_P(EveryPage, TooNarrowForTheFigureIsRefusedWithTheLeastWidth) {
  ViewContext c = scenario(23).context(90, 700);
  try {
    export_scene_of(view(), c, {.page = Page::width});
    FAIL() << "drawn 90 wide";
  } catch (const std::runtime_error& error) {
    const std::string words = error.what();
    std::smatch found;
    ASSERT_TRUE(std::regex_search(words, found, std::regex("needs a width of at least (\\d+) here, not 90")))
        << words;
    c.width = std::stof(found[1]);
  }
  EXPECT_EQ(export_scene_of(view(), c, {.page = Page::width}).width, c.width);
  --c.width;
  EXPECT_THROW(export_scene_of(view(), c, {.page = Page::width}), std::runtime_error);
}

TEST_P(EveryPage, IsTheSameVectorFileForAnyScale) {
  for (const FileFormat format : {FileFormat::svg, FileFormat::pdf}) {
    const ViewContext c = scenario(23).context(700, 500);
    const std::string file = export_bytes(format, view(), c, {.scale = 1, .page = Page::trimmed});
    for (const float scale : {1.5F, 2.F, 3.F, 8.F})
      EXPECT_TRUE(export_bytes(format, view(), c, {.scale = scale, .page = Page::trimmed}) == file) << scale;
  }
}

TEST(Pages, OfAWidthAreAsHighAsLongLists) {
  for (const char* id : {"query", "softmax", "predictions", "tokenization", "metrics"}) {
    ViewContext c = scenario(256).context(760, 700);
    c.height = height_for_width(*find_view(id), c, 1);
    const viz::Scene scene = export_scene_of(*find_view(id), c, {.page = Page::width});
    EXPECT_EQ(scene.width, 760) << id;
    EXPECT_GT(scene.height, 1000) << id;
  }
}

TEST(Pages, OfAnySizeHaveTheZoom) {
  for (const auto& [id, option] :
       {std::pair{"heatmap", "zoom"}, {"scores", "zoom"}, {"positions", "encoding-zoom"}}) {
    ViewContext c = scenario(23).context(900, 700);
    set(c, option, "2:8,1:4");
    for (const Page page : {Page::exact, Page::width, Page::trimmed})
      EXPECT_NO_THROW(export_scene_of(*find_view(id), c, {.page = page})) << id;
  }
}

TEST(Pages, OfALargeWidthHaveLargeMaps) {
  ViewContext c = scenario(23).context(2000, 700);
  c.height = height_for_width(*find_view("heatmap"), c, 1);
  const viz::Scene page = export_scene_of(*find_view("heatmap"), c, {.page = Page::width});
  float widest = 0;
  for (const viz::Image& image : viz::testing::items_of<viz::Image>(page))
    widest = std::max(widest, image.dest.w);
  EXPECT_GT(widest, 900);
}

TEST(Pages, CutToASquareHeatmapLeaveNothingWhiteBesideIt) {
  const ViewContext c = scenario(23).context(1000, 700);
  const viz::Scene page = export_scene_of(*find_view("heatmap"), c, {.page = Page::trimmed});
  float right = 0, left = 1000;
  for (const viz::Image& image : viz::testing::items_of<viz::Image>(page)) {
    left = std::min(left, image.dest.x);
    right = std::max(right, image.dest.right());  // right end of the colour scale
  }
  EXPECT_LE(left, 200);
  EXPECT_LE(page.width - right, 90) << "the scale's numbers and the margin";
  EXPECT_LT(page.width, 850);
}

TEST(Pages, AllBarsThatWereAskedForAreThere) {
  ViewContext c = scenario(12).context(640, 480);
  set(c, "count", "25");
  c.height = height_for_width(*find_view("next"), c, 1);
  const viz::Scene scene = export_scene_of(*find_view("next"), c, {.page = Page::width});
  EXPECT_EQ(scene.width, 640);
  EXPECT_GT(scene.height, 25 * 24);
  const auto texts = viz::testing::texts(scene);
  EXPECT_EQ(std::ranges::count_if(texts, [](const std::string& t) { return t.ends_with(" %"); }), 27)
      << "25 bars, all others, and the end of the axis";
}

TEST(Pages, AWordThatTheCaptionWouldCutNeedsAWiderPage) {
  const Scenario long_word(std::string(58, 'w'));
  ViewContext c = long_word.context(330, 400);
  set(c, "count", "3");
  const viz::Scene scene = export_scene_of(*find_view("next"), c, {.page = Page::at_least});
  EXPECT_GT(scene.width, 330);
  const auto texts = viz::testing::texts(scene);
  EXPECT_THAT(texts, Contains(HasSubstr(std::string(58, 'w'))));
}

// ---- next-token bars ----

/// The bars' axis from 0 to `end` %: the horizontal extent of its lines.
std::pair<float, float> axis_of(const viz::Scene& scene, double end) {
  const auto is_end = [end](const std::string& text) {
    const auto number = read_number(text);
    return number && text.ends_with(" %") && std::abs(100 * number->value - end) < 1e-6;
  };
  EXPECT_THAT(texts(scene), Contains("0"));
  EXPECT_TRUE(std::ranges::any_of(texts(scene), is_end)) << end;
  std::pair<float, float> axis{1e9F, -1e9F};
  for (const viz::Segments& line : viz::testing::items_of<viz::Segments>(scene)) {
    for (const viz::Point p : line.points) axis = {std::min(axis.first, p.x), std::max(axis.second, p.x)};
  }
  return axis;
}

TEST(NextBars, AreAsLongAsTheirProbabilitiesAtEveryTemperatureAndStayInTheirColumns) {
  Scenario s("The old king had a daughter, and she was as");
  for (const float width : {176.F, 216.F, 300.F, 1000.F}) {
    std::optional<std::pair<float, float>> columns;
    for (const int query : {0, 3, 9}) {
      s.select({0, 0, query});
      for (const double temperature : {0.05, 0.5, 1.0, 2.0}) {
        ViewContext c = s.context(width, 700);
        c.options.set(kTemperature, temperature);
        const Picture picture = find_view("next")->build(c);
        const Table table = find_view("next")->table(c);
        const double percent = 100 * std::stod(table.rows[0][5]);
        const double end = std::min(100.0, viz::round_limit(percent));
        const auto axis = axis_of(picture.scene, end);
        ASSERT_GT(axis.second, axis.first + 60) << width;
        const auto bars = viz::testing::items_of<viz::FillRect>(picture.scene);
        EXPECT_NEAR(bars[0].rect.w,
                    std::max(1.0, percent / end * static_cast<double>(axis.second - axis.first)), 0.05)
            << width << " wide, query " << query << ", temperature " << temperature;
        if (!columns) columns = axis;
        EXPECT_EQ(axis, *columns) << width << " wide, query " << query << ", temperature " << temperature;
      }
    }
  }
}

TEST(QueryBars, OfWeightsStandOnAnAxisToARoundNumberThatIsWritten) {
  const Scenario& s = scenario(23);
  const ViewContext c = s.context(1300, 900);
  const Picture picture = find_view("query")->build(c);
  float strongest = 0;
  for (int key = 0; key < 23; ++key) strongest = std::max(strongest, s.weight(s.selection.query, key));
  const double limit = viz::round_limit(static_cast<double>(strongest));
  const auto texts = viz::testing::texts(picture.scene);
  EXPECT_THAT(texts, ::testing::AnyOf(Contains(viz::number(limit, 1)), Contains(viz::number(limit, 2))));
  EXPECT_THAT(texts, Contains("0"));
  // The widest neutral bar is the strongest weight's: as long as the lines at both ends say.
  float longest = 0, start = 0;
  for (const viz::FillRect& bar : viz::testing::items_of<viz::FillRect>(picture.scene)) {
    if (bar.color == light().bar && bar.rect.w > longest) longest = bar.rect.w, start = bar.rect.x;
  }
  float end = 1e9F;
  for (const viz::Segments& line : viz::testing::items_of<viz::Segments>(picture.scene)) {
    const bool upright = line.points.size() == 2 && line.points[0].x == line.points[1].x;
    if (upright && line.color == light().line && line.points[0].x > start)
      end = std::min(end, line.points[0].x);
  }
  EXPECT_NEAR(longest / (end - start), static_cast<double>(strongest) / limit, 0.01);
}

}  // namespace
}  // namespace headscope::app::page_test
