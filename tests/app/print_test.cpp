// Figures for columns and pages of papers and for slides: every view, with letters and lines that can be printed.

#include <map>

#include "app/views/export.h"
#include "app/views/print_target.h"
#include "tests/app/view_fixture.h"
#include "tests/app/views/view_suite.h"
#include "tests/viz/xml_check.h"

namespace headscope::app {
namespace {

constexpr float kPoint = 96.F / 72;  // logical pixels
constexpr Target kPrinted[] = {Target::column, Target::page, Target::slide};

ViewContext context_for(const View& view, Target target, const Scenario& s, const viz::Theme& theme = light()) {
  const TargetSpec spec = spec_of(target);
  ViewContext c = s.context(spec.width, spec.height, theme);
  c.font_size = spec.font_size;
  if (spec.height == 0) c.height = height_for_width(view, c, spec.scale, target);
  return c;
}

ExportOptions options_for(Target target) {
  const TargetSpec spec = spec_of(target);
  return {.scale = spec.scale, .page = spec.height > 0 ? Page::exact : Page::width, .target = target};
}

std::string name_of(Target target) {
  return std::string(name_of(kTargetNames, target));
}

/// Whether a text that was cut is a token's or the prompt's.
bool is_cut_token_text(std::string text, const Scenario& s) {
  if (text.find("…”") != text.npos) return true;  // a quoted prompt
  std::string prompt;
  for (const std::string& label : s.run->tokens.labels) prompt += label;
  const std::string_view dots = "…";
  for (std::size_t at = 0; (at = text.find(dots)) != text.npos;) text.erase(at, dots.size());
  if (prompt.find(text) != prompt.npos) return true;
  const model::Tokenizer& tokenizer = *s.run->model->tokenizer;
  for (int id = 0; id < s.config().vocab_size; ++id)
    if (viz::visible(tokenizer.bytes(id)).find(text) != text.npos) return true;
  return false;
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
      ASSERT_NO_THROW(scene = export_scene_of(view(), context_for(view(), target, s), options_for(target)));
      EXPECT_EQ(scene.width, spec.width);
      if (spec.height > 0) {
        EXPECT_EQ(scene.height, spec.height);
      }
      EXPECT_LE(scene.height, 9 * 96 + 120) << "a sheet of paper and the lines around the picture";
      EXPECT_EQ(text_faults(scene, *fonts()), "");
      for (const viz::GlyphRun& run : items_of<viz::GlyphRun>(scene)) {
        EXPECT_GE(run.size, 6 * kPoint) << run.text;
        const bool is_cut = run.text.find("…") != run.text.npos || run.text.find("...") != run.text.npos;
        EXPECT_TRUE(!is_cut || is_cut_token_text(run.text, s)) << run.text;
      }
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

TEST_P(EveryPrintedFigure, IsMadeInEveryFormat) {
  for (const Target target : kPrinted) {
    SCOPED_TRACE(name_of(target));
    const ViewContext c = context_for(view(), target, scenario(17));
    const ExportOptions options = options_for(target);
    const std::string png = export_bytes(FileFormat::png, view(), c, options);
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
    EXPECT_EQ(number(physical + 4), target == Target::slide ? 11339U : 11811U) << "pixels per metre: 288, 300 dpi";
    EXPECT_EQ(viz::testing::xml_error(export_bytes(FileFormat::svg, view(), c, options)), "");
    EXPECT_THAT(export_bytes(FileFormat::pdf, view(), c, options), StartsWith("%PDF"));
  }
}

/// The part of a figure that its regions, which carry data, take.
double plot_share(const Picture& picture) {
  constexpr int kCells = 200;
  int covered = 0;
  for (int row = 0; row < kCells; ++row)
    for (int col = 0; col < kCells; ++col) {
      const viz::Point at{(static_cast<float>(col) + 0.5F) * picture.scene.width / kCells,
                          (static_cast<float>(row) + 0.5F) * picture.scene.height / kCells};
      covered += std::ranges::any_of(picture.regions, [&](const viz::Region& r) { return r.rect.contains(at); });
    }
  return static_cast<double>(covered) / (kCells * kCells);
}

TEST_P(EveryPrintedFigure, IsMostlyItsPlot) {
  for (const Target target : kPrinted) {
    const Picture picture =
        export_picture_of(view(), context_for(view(), target, scenario(17)), options_for(target));
    const double share = plot_share(picture);
    RecordProperty(name_of(target), std::to_string(share));
    std::printf("SHARE %s %s %.3f  %gx%g\n", GetParam().c_str(), name_of(target).c_str(), share,
                static_cast<double>(picture.scene.width), static_cast<double>(picture.scene.height));
  }
}

}  // namespace
}  // namespace headscope::app
