// Figures for columns and pages of papers and for slides: every view, with letters and lines that can be
// printed.

#include "app/views/export.h"
#include "app/views/print_target.h"
#include "tests/app/view_fixture.h"
#include "tests/app/views/view_suite.h"
#include "tests/support/temporary_folder.h"
#include "tests/viz/poppler.h"
#include "tests/viz/xml_check.h"

namespace headscope::app::print_test {
namespace {

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

TEST(PrintedFigure, IsMadeInEveryFormat) {
  const View& view = *find_view("heads");
  for (const Target target : kPrinted) {
    SCOPED_TRACE(name_of(target));
    const ViewContext c = context_for(target, scenario(17));
    const ExportOptions options = options_for(target);
    const std::string png = export_bytes(FileFormat::png, view, c, options);
    const auto number = [&](std::size_t at) {
      unsigned value = 0;
      for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(png.at(at + i));
      return value;
    };
    EXPECT_EQ(number(16), target == Target::column ? 990U : target == Target::page ? 1950U : 3840U);
    if (target == Target::slide) {
      EXPECT_EQ(number(20), 2160U);
    }
    const std::size_t physical = png.find("pHYs");
    ASSERT_NE(physical, std::string::npos);
    EXPECT_EQ(number(physical + 4), target == Target::slide ? 11339U : 11811U)
        << "pixels per metre: 288, 300 dpi";
    EXPECT_EQ(viz::testing::xml_error(export_bytes(FileFormat::svg, view, c, options)), "");
    EXPECT_EQ(export_bytes(FileFormat::pdf, view, c, options).substr(0, 4), "%PDF");
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

TEST(Described, FilesSayWhatTheyShow) {
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
  const std::string pdf = export_bytes(FileFormat::pdf, view, c, options);
  if (!viz::testing::has_poppler()) GTEST_SKIP() << "poppler-utils is not installed";
  const headscope::testing::TemporaryFolder folder;
  const std::string facts = viz::testing::output_of("pdfinfo '" + folder.write("a.pdf", pdf).string() + "'");
  EXPECT_THAT(facts, ::testing::ContainsRegex("Title: +From e\\(t\\) to e\\(t\\+k\\) by one map T"));
  EXPECT_THAT(facts, ::testing::ContainsRegex("Subject: +error, "));
}

}  // namespace
}  // namespace headscope::app::print_test
