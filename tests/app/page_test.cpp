// Pages of exported pictures: exactly the requested size, trimmed to the figure, or rejected.

#include <regex>

#include "app/views/export.h"
#include "tests/app/view_fixture.h"
#include "viz/charts/number_axis.h"
#include "viz/players/players.h"

namespace headscope::app::page_test {
namespace {

/// The size that the error for this page says is enough; the page's own without an error.
std::pair<float, float> enough_for(const View& view, const ViewContext& c, const ExportOptions& options) {
  try {
    export_picture_of(view, c, options);
  } catch (const std::runtime_error& error) {
    const std::string words = error.what();
    std::smatch found;
    const bool names = std::regex_search(words, found, std::regex("; (\\d+)x(\\d+) is enough"));
    EXPECT_TRUE(names && words.starts_with("the view " + std::string(view.id))) << words;
    if (names) return {std::stof(found[1]), std::stof(found[2])};
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
        std::tie(c.width, c.height) = enough_for(view(), c, options);
        const viz::Scene scene = export_picture_of(view(), c, options).scene;
        EXPECT_EQ(scene.width, c.width);
        EXPECT_EQ(scene.height, c.height);
        EXPECT_EQ(text_faults(scene, *fonts()), "") << width << "x" << height << " " << length;
        const auto texts = viz::testing::texts(scene);
        EXPECT_EQ(texts.back().starts_with("tales"), captioned);
      }
    }
  }
}

TEST_P(EveryPage, TooSmallForTheFigureIsRefusedWithASizeThatIsEnough) {
  for (const auto& [width, height] : {std::pair{100.F, 80.F}, {900.F, 60.F}, {60.F, 900.F}}) {
    ViewContext c = scenario(23).context(width, height);
    std::tie(c.width, c.height) = enough_for(view(), c, {});
    EXPECT_GE(c.width * c.height, width * height);
    EXPECT_EQ(text_faults(export_picture_of(view(), c, {}).scene, *fonts()), "")
        << c.width << "x" << c.height;
  }
}

TEST(FigureRows, AreLimitedOnEveryPage) {
  for (const char* id : {"query", "metrics", "softmax", "attribution", "sampling", "parameters"}) {
    const View& view = *find_view(id);
    ViewContext c = scenario(23).context(900, 700);
    c.max_rows = 3;
    for (const Page page : {Page::exact, Page::width, Page::trimmed}) {
      c.height = page == Page::exact ? 700 : 0;
      const viz::Scene scene = export_picture_of(view, c, {.page = page}).scene;
      EXPECT_LT(scene.height, 701) << id;
      EXPECT_THAT(viz::testing::texts(scene), Contains(::testing::ContainsRegex("[23] of [0-9]"))) << id;
    }
  }
}

TEST_P(EveryPage, CutToTheFigureHasTheSameMarginAllAround) {
  for (const int length : {1, 12, 100}) {
    const ViewContext c = scenario(length).context(1000, 700);
    const viz::Scene scene = export_picture_of(view(), c, {.caption = false, .page = Page::trimmed}).scene;
    const viz::Rect content = viz::content_bounds(scene, *fonts());
    EXPECT_NEAR(scene.height - content.bottom(), content.x, 1.01) << length;
    EXPECT_GE(scene.width - content.right(), content.x - 0.01) << length;
    const viz::Scene page = export_picture_of(view(), c, {.caption = false, .page = Page::at_least}).scene;
    EXPECT_LE(scene.width, page.width + 5);
    EXPECT_LE(scene.height, page.height + 5);
    const viz::Scene captioned = export_picture_of(view(), c, {.page = Page::trimmed}).scene;
    EXPECT_GE(captioned.width, scene.width);
    EXPECT_GT(captioned.height, scene.height);
    EXPECT_EQ(text_faults(captioned, *fonts()), "") << length;
  }
}

TEST_P(EveryPage, OfAWidthIsAsHighAsItsFigure) {
  for (const int length : {1, 12, 100}) {
    for (const float width : {520.F, 900.F, 1400.F}) {
      SCOPED_TRACE(std::to_string(length) + " tokens, " + std::to_string(width));
      const ViewContext c = scenario(length).context(width, 0);
      const viz::Scene scene = export_picture_of(view(), c, {.page = Page::width}).scene;
      EXPECT_EQ(scene.width, width);
      EXPECT_EQ(text_faults(scene, *fonts()), "");
      const float below = scene.height - viz::content_bounds(scene, *fonts()).bottom();
      EXPECT_TRUE(below >= 0 && below < 40) << below;
    }
  }
}

}  // namespace
}  // namespace headscope::app::page_test
