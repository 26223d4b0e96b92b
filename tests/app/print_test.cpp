// Exported pictures: exactly the requested size, trimmed to the figure, or rejected; figures for columns and
// pages of papers and for slides, with letters and lines that can be printed.
#include <regex>

#include "app/views/content.h"
#include "app/views/export.h"
#include "tests/app/view_fixture.h"
#include "tests/app/views/view_suite.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"
#include "viz/players/players.h"

namespace headscope::app::print_test {
namespace {

/// A run of the bundled model, and its heatmap.
struct BundledHeatmap {
  explicit BundledHeatmap(const std::string& prompt = "Once upon a time") : scenario(prompt, {1, 2, -1}) {}

  Scenario scenario;
  ViewContext context = scenario.context(400, 300);
  const View& view = *find_view("heatmap");
};

TEST(Export, TheExtensionIsTheFormat) {
  for (const FileFormat format : {FileFormat::png, FileFormat::svg, FileFormat::csv})
    EXPECT_EQ(format_of("a/b" + std::string(extension_of(format))), format);
  EXPECT_EQ(format_of("a/b.png"), FileFormat::png);
  EXPECT_EQ(format_of("b.SVG"), FileFormat::svg);
  EXPECT_EQ(format_of("x.y.csv"), FileFormat::csv);
  for (const char* name : {"", "png", ".png", "a.png/", "a.jpg", "a.png~", "a"})
    EXPECT_EQ(format_of(name), std::nullopt) << name;
}

TEST(Export, APictureTooLargeForAPngIsRefusedWithAdvice) {
  BundledHeatmap shown;
  shown.context.width = 40000;
  const ExportOptions options{.scale = 1, .page = Page::exact};
  EXPECT_THAT(
      message_of<std::runtime_error>(
          [&] { export_bytes(FileFormat::png, shown.view, shown.context, options); }),
      AllOf(StartsWith("the view heatmap is 40000x300 logical pixels here"), HasSubstr("at most 32767"),
            HasSubstr("--scale 0.81"), Not(HasSubstr("--rows")), HasSubstr("svg or pdf")));
  EXPECT_NO_THROW(export_bytes(FileFormat::svg, shown.view, shown.context, options));
}

TEST(Export, ThePictureDoesNotDependOnTheScreensScale) {
  BundledHeatmap shown;
  const std::string once = export_bytes(FileFormat::svg, shown.view, shown.context, {});
  shown.context.device_scale = 3;
  EXPECT_EQ(export_bytes(FileFormat::svg, shown.view, shown.context, {}), once);
}

TEST(Export, WhatCannotBeMadeIsSaid) {
  const BundledHeatmap shown;
  EXPECT_THROW(export_bytes(FileFormat::png, shown.view, shown.context, {.scale = 1000}), std::runtime_error);
  View without = shown.view;
  without.id = "numberless";
  without.declare = [](Content& it) { it.message = "nothing"; };
  EXPECT_THAT([&] { export_bytes(FileFormat::csv, without, shown.context, {}); },
              ThrowsMessage<std::runtime_error>(HasSubstr("numberless has no data")));
}

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

class EveryPage : public ViewSuite {};
INSTANTIATE_TEST_SUITE_P(Views, EveryPage,
                         ::testing::Values("heatmap", "scores", "query", "positions", "heads", "tokens",
                                           "next"),
                         [](const auto& test) { return test.param; });

TEST_P(EveryPage, HasExactlyTheSizeAskedForOrThatIsSaidToBeEnoughWithTheCaptionInside) {
  for (const int length : {1, 12, 100}) {
    for (const auto& [width, height] :
         {std::pair{640.F, 480.F}, {1000.F, 1300.F}, {100.F, 80.F}, {900.F, 60.F}, {60.F, 900.F}}) {
      for (const bool captioned : {false, true}) {
        const ExportOptions options{.scale = 1.5F, .caption = captioned};
        ViewContext c = scenario(length).context(width, height);
        std::tie(c.width, c.height) = enough_for(view(), c, options);
        const viz::Scene scene = export_picture_of(view(), c, options).scene;
        EXPECT_EQ(scene.width, c.width);
        EXPECT_EQ(scene.height, c.height);
        EXPECT_GE(c.width * c.height, width * height);
        EXPECT_EQ(text_faults(scene, *fonts()), "") << width << "x" << height << " " << length;
        const auto texts = viz::testing::texts(scene);
        EXPECT_EQ(std::ranges::any_of(texts, [](const auto& text) { return text.starts_with("tales"); }),
                  captioned);
      }
    }
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

constexpr float kPoint = 96.F / 72;  // logical pixels
constexpr Target kPrinted[] = {Target::column, Target::page, Target::slide};

ViewContext context_for(Target target, const Scenario& s) {
  const TargetSpec spec = spec_of(target);
  ViewContext c = s.context(spec.width, spec.height);
  c.font_size = spec.font_size;
  return c;
}

ExportOptions options_for(Target target) {
  const TargetSpec spec = spec_of(target);
  return {.scale = spec.scale,
          .page = spec.height > 0 ? Page::exact : Page::width,
          .target = target,
          .letters_grow = true};
}

std::string name_of(Target target) {
  return std::string(name_of(kTargetNames, target));
}

class EveryPrintedFigure : public ViewSuite {};
INSTANTIATE_TEST_SUITE_P(Views, EveryPrintedFigure, ::testing::ValuesIn(ids_of_views()),
                         [](const auto& test) { return test.param; });

TEST_P(EveryPrintedFigure, HasTheSizeLettersAndLinesOfItsTarget) {
  for (const Target target : kPrinted) {
    const TargetSpec spec = spec_of(target);
    for (const int length : {1, 17, 100}) {
      SCOPED_TRACE(name_of(target) + ", " + std::to_string(length) + " tokens");
      const Scenario& s = scenario(length);
      viz::Scene scene;
      ASSERT_NO_THROW(scene = export_picture_of(view(), context_for(target, s), options_for(target)).scene);
      EXPECT_EQ(scene.width, spec.width);
      if (spec.height > 0) {
        EXPECT_EQ(scene.height, spec.height);
      }
      EXPECT_LE(scene.height, 9 * 96) << "a sheet of paper, title and caption included";
      EXPECT_EQ(text_faults(scene, *fonts()), "");
      for (const viz::GlyphRun& run : items_of<viz::GlyphRun>(scene))
        EXPECT_GE(run.size, 6 * kPoint) << run.text;
      for (const viz::Item& item : scene.items)
        std::visit(
            [](const auto& it) {
              if constexpr (requires { it.width; }) {
                EXPECT_GE(it.width, 0.5F * kPoint - 1e-4F);
              }
            },
            item);
    }
  }
}

TEST(PrintedFigure, HasThePixelsOfItsTarget) {
  for (const auto& [target, width] :
       {std::pair{Target::column, 990}, {Target::page, 1950}, {Target::slide, 3840}}) {
    const ViewContext c = context_for(target, scenario(17));
    const std::string png = export_bytes(FileFormat::png, *find_view("heads"), c, options_for(target));
    EXPECT_EQ(viz::testing::png_size(png).first, width) << name_of(target);
  }
}

/// The words of a whole figure, with their spaces.
std::string all_words(const viz::Scene& scene) {
  std::string all;
  for (const std::string& text : texts(scene)) all += text + " ";
  return all;
}

TEST(Title, IsLeftOutWithTheSpaceItTook) {
  for (const char* id : {"heatmap", "query", "lens", "mlp", "heads", "tokens"}) {
    const View& view = *find_view(id);
    for (const Target target : kPrinted) {
      const ViewContext c = context_for(target, scenario(17));
      ExportOptions options = options_for(target);
      options.letters_grow = false;
      const Picture with = export_picture_of(view, c, options);
      options.title = false;
      const Picture without = export_picture_of(view, c, options);
      EXPECT_EQ(without.title, with.title) << "files still say it";
      if (with.title.empty()) continue;
      EXPECT_THAT(all_words(with.scene), HasSubstr(with.title)) << id;  // in one line or more
      EXPECT_THAT(all_words(without.scene), Not(HasSubstr(with.title))) << id;
      if (target != Target::slide) {
        EXPECT_LE(without.scene.height, with.scene.height) << id;
      }
    }
  }
}

TEST(Superscripts, AreSmallerAndHigher) {
  viz::Scene scene;
  const viz::Style style{light(), *fonts(), 14};
  const std::string text = "T" + viz::superscript("k") + " e(t), 10000" + viz::superscript("2i/256");
  EXPECT_EQ(viz::without_superscripts(text), "T^k e(t), 10000^(2i/256)");
  viz::add_label(scene, style, text, {10, 50}, 14, light().text);
  const auto runs = items_of<viz::GlyphRun>(scene);
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_EQ(runs[1].text, "k");
  EXPECT_LT(runs[1].size, runs[0].size);
  EXPECT_LT(runs[1].origin.y, runs[0].origin.y);
  EXPECT_EQ(runs[2].origin.y, runs[0].origin.y);
  EXPECT_NEAR(runs[3].origin.x + style.fonts.width("2i/256", viz::FontStyle::regular, runs[3].size),
              10 + style.width(text, 14), 0.01F);
}

TEST(Described, AnSvgSaysWhatItShows) {
  const View& view = *find_view("positions");
  ViewContext c = context_for(Target::page, scenario(17));
  set(c, "positions-show", "shift");
  ExportOptions options = options_for(Target::page);
  options.title = options.caption = false;
  const std::string svg = export_bytes(FileFormat::svg, view, c, options);
  EXPECT_THAT(svg.substr(0, 1000), HasSubstr("width=\"6.5in\""));
  EXPECT_THAT(svg.substr(0, 1000),
              HasSubstr("role=\"img\">\n<title>From e(t) to e(t+k) by one map T</title>"));
  EXPECT_THAT(svg.substr(0, 1000), HasSubstr("<desc>error, k up to "));
  EXPECT_LT(svg.find("<title"), svg.find("<path"));
}

}  // namespace
}  // namespace headscope::app::print_test
