#include "app/views/export.h"
#include "app/recipe/recipe.h"
#include "app/run/answers.h"
#include "app/run/sources/paths.h"
#include "tests/support/matchers.h"
#include "tests/support/odd_characters.h"

namespace headscope::app::export_test {
namespace {

/// A run of the bundled model, and its heatmap.
struct BundledHeatmap {
  explicit BundledHeatmap(const std::string& prompt = "Once upon a time") {
    PromptRun made;
    made.model = load_model(bundled_model(), {});
    made.prompt.text = prompt;
    made.tokens = tokenize(*made.model, made.prompt);
    made.run = made.model->transformer->forward(made.tokens.ids(), workspace);
    context.run = std::make_shared<const PromptRun>(std::move(made));
    answers.emplace(context.run, workspace);
    context.answers = &*answers;
    context.selection = clamped({1, 2, -1}, *context.run);
    context.theme = &theme;
    context.fonts = fonts.get();
    context.width = 400;
    context.height = 300;
  }

  model::Workspace workspace{1};
  std::optional<DirectAnswers> answers;
  viz::Theme theme = viz::light_theme();
  std::shared_ptr<const viz::Fonts> fonts = viz::Fonts::load();
  ViewContext context;
  const View& view = *find_view("heatmap");
};

/// Width and height in the header of a PNG file.
std::pair<unsigned, unsigned> png_size(const std::string& png) {
  const auto number = [&](std::size_t at) {
    unsigned value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(png.at(at + i));
    return value;
  };
  EXPECT_THAT(png, StartsWith("\x89PNG\r\n\x1a\n"));
  return {number(16), number(20)};
}

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
  try {
    export_bytes(FileFormat::png, shown.view, shown.context, options);
    ADD_FAILURE() << "not refused";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), AllOf(StartsWith("the view heatmap is 40000x300 logical pixels here"),
                                    HasSubstr("at most 32767"), HasSubstr("--scale 0.81"),
                                    Not(HasSubstr("--rows")), HasSubstr("svg or pdf")));
  }
  EXPECT_NO_THROW(export_bytes(FileFormat::svg, shown.view, shown.context, options));
}

TEST(Export, PngHasTheContextsSizeTimesTheScale) {
  const BundledHeatmap shown;
  const ExportOptions options{.scale = 1.5F, .svg_text = false, .caption = false};
  EXPECT_EQ(png_size(export_bytes(FileFormat::png, shown.view, shown.context, options)),
            std::pair(600U, 450U));
  EXPECT_EQ(png_size(export_bytes(FileFormat::png, shown.view, shown.context, {.scale = 1.5F})),
            std::pair(600U, 450U))
      << "the caption inside";
}

TEST(Export, ThePhysicalSizeOfAPngIsThatOfTheContextAtAnyScale) {
  const BundledHeatmap shown;
  for (const auto& [scale, per_metre] :
       {std::pair{1.F, 3780U}, {2.F, 7559U}, {3.F, 11339U}}) {  // 96 dpi x scale
    const std::string png = export_bytes(FileFormat::png, shown.view, shown.context, {.scale = scale});
    const std::size_t at = png.find("pHYs");
    ASSERT_NE(at, std::string::npos);
    unsigned value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(png[at + 4 + i]);
    EXPECT_EQ(value, per_metre) << scale;
  }
}

TEST(Export, ThePictureDoesNotDependOnTheScreensScale) {
  BundledHeatmap shown;
  const std::string once = export_bytes(FileFormat::svg, shown.view, shown.context, {});
  shown.context.device_scale = 3;
  EXPECT_EQ(export_bytes(FileFormat::svg, shown.view, shown.context, {}), once);
}

TEST(Export, CsvIsTheViewsTable) {
  const BundledHeatmap shown;
  EXPECT_EQ(export_bytes(FileFormat::csv, shown.view, shown.context, {}),
            to_csv(shown.view.table(shown.context)));
}

TEST(Export, APromptOfAnyCharactersIsWhollyInTheRecipe) {
  const std::string odd = testing::odd_characters();
  for (const std::string& prompt : {odd.substr(0, odd.size() / 2), odd.substr(odd.size() / 2)}) {
    const BundledHeatmap shown(prompt);
    Recipe recipe;
    recipe.session.view = "heatmap";
    recipe.session.prompt.text = prompt;
    recipe.figure.emplace();
    for (const FileFormat format : {FileFormat::png, FileFormat::svg, FileFormat::pdf}) {
      const std::string file = export_bytes(
          format, shown.view, shown.context,
          {.svg_text = true, .page = Page::trimmed, .target = Target::page, .notes = {recipe_note(recipe)}});
      EXPECT_EQ(recipe_of(file, "figure").session.prompt.text, prompt) << extension_of(format);
    }
  }
}

TEST(Export, WhatCannotBeMadeIsSaid) {
  const BundledHeatmap shown;
  EXPECT_THROW(export_bytes(FileFormat::png, shown.view, shown.context, {.scale = 1000}), std::runtime_error);
  View without = shown.view;
  without.id = "numberless";
  without.table = [](const ViewContext&) { return Table{}; };
  EXPECT_THAT([&] { export_bytes(FileFormat::csv, without, shown.context, {}); },
              ThrowsMessage<std::runtime_error>(HasSubstr("numberless has no data")));
}

}  // namespace
}  // namespace headscope::app::export_test
