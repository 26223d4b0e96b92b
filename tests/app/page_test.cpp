// Pages of exported pictures: exactly the requested size, trimmed to the figure, or rejected.

#include <regex>

#include "app/views/export.h"
#include "tests/app/view_fixture.h"
#include "viz/charts/number_axis.h"
#include "viz/players/players.h"

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
    EXPECT_EQ(found[1], std::string(view.id));
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
  constexpr int kLength = 23;
  for (const auto& [width, height] : {std::pair{100.F, 80.F}, {900.F, 60.F}, {60.F, 900.F}}) {
    ViewContext c = scenario(kLength).context(width, height);
    const auto [least_width, least_height] = least_named(view(), c, {});
    EXPECT_GE(least_width, width);
    EXPECT_GE(least_height, height);
    c.width = least_width;
    c.height = least_height;
    EXPECT_EQ(text_faults(export_scene_of(view(), c, {}), *fonts()), "")
        << least_width << "x" << least_height << " " << kLength;
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

}  // namespace
}  // namespace headscope::app::page_test
