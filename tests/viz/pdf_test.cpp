// Pictures as PDF: what poppler's programs see in them, where they are installed, held against the pixels.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/viz/pictures.h"
#include "viz/scene/notes.h"

namespace headscope::viz {
namespace {

using headscope::testing::TemporaryFolder;
using namespace testing;

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> piece{};
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe))
    text.append(piece.data(), count);
  return ::pclose(pipe) == 0 ? text : "";
}

bool has_poppler() {
  return std::system("pdftoppm -v > /dev/null 2>&1 && pdffonts -v > /dev/null 2>&1") == 0;
}

class PopplersPdf : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_poppler()) GTEST_SKIP() << "poppler-utils is not installed";
  }
  std::string seen_by(const std::string& program, const Scene& scene) const {
    const auto file = folder_.write("a.pdf", to_pdf(scene, *fonts()));
    return output_of(program + " '" + file.string() + (program == "pdftotext" ? "' -" : "'"));
  }
  /// At `scale` device pixels for a logical one.
  Bitmap pixels_of(const Scene& scene, int scale) const {
    const auto file = folder_.write("a.pdf", to_pdf(scene, *fonts()));
    const std::string out = (folder_.path() / "p").string();
    output_of("pdftoppm -r " + std::to_string(96 * scale) + " -singlefile '" + file.string() + "' '" + out +
              "' && echo");
    std::ifstream in(out + ".ppm", std::ios::binary);
    std::string magic;
    Bitmap bitmap;
    int most = 0;
    in >> magic >> bitmap.width >> bitmap.height >> most;
    in.get();
    std::array<char, 3> rgb{};
    while (in.read(rgb.data(), 3))
      bitmap.pixels.push_back({static_cast<std::uint8_t>(rgb[0]), static_cast<std::uint8_t>(rgb[1]),
                               static_cast<std::uint8_t>(rgb[2]), 255});
    return bitmap;
  }

  TemporaryFolder folder_;
};

/// Part of the pixels that differ by more than a little: edges are blended otherwise.
double difference(const Bitmap& a, const Bitmap& b) {
  return testing::differing(a, b, 90);
}

Scene with_text(std::string_view text, FontStyle style = FontStyle::regular, float angle = 0) {
  Scene scene = blank(400, 60);
  scene.add(make_text(*fonts(), text, {10, 40}, 20, {0, 0, 0, 255}, style, Align::left, angle));
  return scene;
}

TEST(Pdf, IsTheSameFileWheneverItIsWritten) {
  const std::string pdf = to_pdf(testing::everything(light_theme()), *fonts());
  EXPECT_THAT(pdf, AllOf(StartsWith("%PDF-1."), Not(HasSubstr("CreationDate")), HasSubstr("%%EOF")));
  EXPECT_EQ(to_pdf(testing::everything(light_theme()), *fonts()), pdf);
}

TEST(Pdf, CarriesANote) {
  const std::string text = R"({"a": "b (c) \\ \u00e9 <>"})";
  const std::vector<Note> notes{{"recipe", text}};
  const std::string pdf = to_pdf(blank(10, 10), *fonts(), notes);
  EXPECT_EQ(find_note(pdf, "recipe"), text);
  EXPECT_EQ(find_note(pdf, "recip"), std::nullopt);
  EXPECT_EQ(find_note(to_pdf(blank(10, 10), *fonts()), "recipe"), std::nullopt);
  for (std::size_t size = 0; size < pdf.size(); ++size) {
    try {
      EXPECT_EQ(find_note(pdf.substr(0, size), "recipe").value_or(text), text);
    } catch (const std::runtime_error& e) {
      EXPECT_THAT(e.what(), HasSubstr("cut off"));
    }
  }
}

TEST(Pdf, RefusesSizesThatNoReaderShows) {
  EXPECT_THROW(to_pdf(blank(0, 10), *fonts()), std::runtime_error);
  EXPECT_THROW(to_pdf(blank(19201, 10), *fonts()), std::runtime_error);
}

TEST_F(PopplersPdf, HoldsItsText) {
  EXPECT_THAT(seen_by("pdftotext", with_text("A robot must obey 0.1234")),
              HasSubstr("A robot must obey 0.1234"));
  EXPECT_THAT(seen_by("pdftotext", with_text("·robot↵ naïve «été»")), HasSubstr("·robot↵ naïve «été»"));
  EXPECT_THAT(seen_by("pdftotext", with_text("mono 12", FontStyle::mono)), HasSubstr("mono 12"));
}

TEST_F(PopplersPdf, HoldsItsFontsAsFontsAndOnlyWhatItNeedsOfThem) {
  Scene scene = with_text("bold ↵", FontStyle::bold);
  append(scene, with_text("regular and 漢字"), {0, 0});
  const std::string lines = seen_by("pdffonts", scene);
  ASSERT_THAT(lines, HasSubstr("---"));
  std::istringstream in(lines.substr(lines.find("---")));
  std::string line;
  std::getline(in, line);
  int count = 0;
  for (; std::getline(in, line); ++count) {
    EXPECT_THAT(line, HasSubstr(" yes yes yes ")) << "embedded, a subset, with Unicode";
    EXPECT_THAT(line, Not(HasSubstr("Type 3")));
  }
  EXPECT_GE(count, 2);
}

TEST_F(PopplersPdf, LooksAsThePixelsDo) {
  for (const bool dark : {false, true}) {
    const Scene scene = testing::everything(dark ? dark_theme() : light_theme());
    EXPECT_LT(difference(pixels_of(scene, 2), rasterize(scene, *fonts(), 2)), 0.02);
  }
}

TEST_F(PopplersPdf, PutsEachGlyphWhereItWasLaidOut) {
  for (const float angle : {0.F, -0.3F}) {
    const Scene scene = with_text("AVAToWa 1234567890 .,;: fi", FontStyle::regular, angle);
    EXPECT_LT(difference(pixels_of(scene, 4), rasterize(scene, *fonts(), 4)), 0.01);
  }
}

TEST_F(PopplersPdf, DrawsWhatNoFontHasAndWhatIsNoText) {
  for (const std::string_view text : {"a\xff\x01z", "\U0010FFFDbox", "tab\there", "zero\u200dwidth"}) {
    const Scene scene = with_text(text);
    EXPECT_LT(difference(pixels_of(scene, 3), rasterize(scene, *fonts(), 3)), 0.02) << text;
  }
}

TEST_F(PopplersPdf, LetsThroughWhatTranslucentCellsDo) {
  Scene scene = blank(60, 60);
  scene.add(testing::image({0, 0, 60, 60},
                           std::make_shared<Bitmap>(Bitmap{2, 1, {{100, 50, 0, 128}, {0, 90, 120, 64}}})));
  EXPECT_LT(difference(pixels_of(scene, 2), rasterize(scene, *fonts(), 2)), 0.02);
}

TEST_F(PopplersPdf, DoesNotBlurCells) {
  Scene scene = blank(120, 120);
  scene.add(testing::image({10, 10, 100, 100}, testing::noise(5, 5)));
  EXPECT_LT(difference(pixels_of(scene, 2), rasterize(scene, *fonts(), 2)), 0.02);
}

}  // namespace
}  // namespace headscope::viz
