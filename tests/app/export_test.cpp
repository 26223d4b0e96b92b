#include "app/views/export.h"
#include "app/views/content.h"

#include "app/recipe/recipe.h"
#include "tests/app/view_fixture.h"
#include "tests/support/matchers.h"
#include "tests/support/odd_characters.h"

namespace headscope::app::export_test {
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

TEST(Export, ThePictureDoesNotDependOnTheScreensScale) {
  BundledHeatmap shown;
  const std::string once = export_bytes(FileFormat::svg, shown.view, shown.context, {});
  shown.context.device_scale = 3;
  EXPECT_EQ(export_bytes(FileFormat::svg, shown.view, shown.context, {}), once);
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
  without.declare = [](Content& it) { it.message = "nothing"; };
  EXPECT_THAT([&] { export_bytes(FileFormat::csv, without, shown.context, {}); },
              ThrowsMessage<std::runtime_error>(HasSubstr("numberless has no data")));
}

}  // namespace
}  // namespace headscope::app::export_test
