// Pictures as PDF: rendered and read by poppler, if it is installed, and compared with the pixels.

#include "tests/support/matchers.h"
#include "tests/support/odd_characters.h"
#include "tests/support/temporary_folder.h"
#include "tests/viz/pictures.h"
#include "tests/viz/poppler.h"
#include "viz/players/cell_images.h"
#include "viz/scene/notes.h"

namespace headscope::viz::pdf_test {
namespace {

using headscope::testing::TemporaryFolder;
using namespace testing;

class PopplersPdf : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_poppler()) GTEST_SKIP() << "poppler-utils is not installed";
  }
  std::string seen_by(const std::string& program, const Scene& scene) const {
    const auto file = folder_.write("a.pdf", to_pdf(scene, *fonts()));
    return output_of(program + " '" + file.string() + (program == "pdftotext" ? "' -" : "'"));
  }
  /// The pixels of a scene, at `scale` device pixels per logical pixel.
  static Bitmap pixels_of(const Scene& scene, int scale) {
    return poppler_pixels(to_pdf(scene, *fonts()), 96 * scale);
  }

  TemporaryFolder folder_;
};

/// The fraction of pixels that differ by more than a little, because edges are blended differently.
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

TEST(Pdf, HoldsAnyTextAndDescription) {
  const std::string odd = headscope::testing::odd_characters();
  Scene scene = blank(4000, 60);
  scene.add(make_text(*fonts(), odd, {10, 40}, 12, {0, 0, 0, 255}));
  const std::vector<Note> notes{{"recipe", "{}"}};
  EXPECT_EQ(find_note(to_pdf(scene, *fonts(), notes, {odd, odd}), "recipe"), "{}");
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

TEST_F(PopplersPdf, HasATitleThatShowsAnyCharacterAndASubject) {
  const auto file =
      folder_.write("a.pdf", to_pdf(blank(10, 10), *fonts(), {}, {"a\uFFFE\uFDD0\x01\xFF", "said"}));
  EXPECT_THAT(output_of("pdfinfo '" + file.string() + "'"),
              AllOf(HasSubstr("a<U+FFFE><U+FDD0>␁<FF>"), ::testing::ContainsRegex("Subject: +said")));
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
  struct Case {
    Scene scene;
    int scale;
    double most;
  };
  std::vector<Case> cases{{testing::everything(light_theme()), 2, 0.02},
                          {testing::everything(dark_theme()), 2, 0.02}};
  for (const float angle : {0.F, -0.3F})
    cases.push_back({with_text("AVAToWa 1234567890 .,;: fi", FontStyle::regular, angle), 4, 0.01});
  for (const std::string_view text : {"a\xff\x01z", "\U0010FFFDbox", "tab\there", "zero\u200dwidth"})
    cases.push_back({with_text(text), 3, 0.02});
  Scene translucent = blank(60, 60), cells = blank(120, 120);
  translucent.add(testing::image(
      {0, 0, 60, 60}, std::make_shared<Bitmap>(Bitmap{2, 1, {{100, 50, 0, 128}, {0, 90, 120, 64}}})));
  cells.add(testing::image({10, 10, 100, 100}, testing::noise(5, 5)));
  cases.push_back({translucent, 2, 0.02});
  cases.push_back({cells, 2, 0.03});  // one pixel in 40 lies on an edge
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [scene, scale, most] = cases[i];
    EXPECT_LT(difference(pixels_of(scene, scale), rasterize(scene, *fonts(), static_cast<float>(scale))),
              most)
        << i;
  }
}

/// Each cell has a gap to its right and below it, on a background that no blend of the cells' colours gives.
TEST_F(PopplersPdf, BlendsNothingIntoTheEdgeOfCellsBesideGaps) {
  constexpr int kSide = 11;
  constexpr Color kCell{250, 220, 120, 255}, kGround{255, 255, 255, 255};
  Bitmap cells = Bitmap::filled(kSide, kSide, {0, 0, 0, 0});
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x)
      if (x <= y && (x + y) % 4 != 0) cells.at(x, y) = kCell;
  Scene scene = blank(200, 200);
  scene.add(testing::image({10, 10, 170.3F, 180.6F}, std::make_shared<Bitmap>(cells)));
  for (const double dpi : {96, 144, 200, 300}) {
    const Bitmap seen = poppler_pixels(to_pdf(scene, *fonts()), dpi);
    ASSERT_FALSE(seen.empty());
    for (const Color c : seen.pixels) {
      EXPECT_TRUE(c.r >= kCell.r - 1 && c.r <= kGround.r && c.g >= kCell.g - 1 && c.b >= kCell.b - 1)
          << int{c.r} << " " << int{c.g} << " " << int{c.b} << " at " << dpi << " dpi";
      if (c.r < kCell.r - 1) break;
    }
  }
}

TEST_F(PopplersPdf, DrawsNothingOfLinesThatAreFarAway) {
  for (const float far : {1e4F, 1e5F, 1e7F, 1e12F}) {
    Scene scene = blank(100, 100);
    Polyline line{{}, {200, 0, 0, 255}, 2};
    for (int i = 0; i < 40; ++i)
      line.points.push_back({static_cast<float>(i) * 2, -far - far * static_cast<float>(i % 7)});
    scene.add(line);
    scene.add(Segments{line.points, {0, 0, 200, 255}, 2});
    const Bitmap seen = pixels_of(scene, 1);
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(ink(seen), 0) << far;
    EXPECT_EQ(ink(rasterize(scene, *fonts(), 1)), 0) << far;
  }
}

TEST_F(PopplersPdf, HoldsCellsAtThreeHundredDpiOrMore) {
  Scene scene = blank(960, 960);
  for (const int count : {1, 7, 300, 2000})
    scene.add(testing::image({0, 0, 700, 480}, testing::noise(count, count)));
  std::istringstream lines(seen_by("pdfimages -list", scene));
  std::string line;
  int images = 0;
  while (std::getline(lines, line)) {
    std::istringstream in(line);
    std::string page, number, type, width, height, color, components, bits, encoding, interpolated, object,
        id;
    double across = 0, down = 0;
    if (!(in >> page >> number >> type >> width >> height >> color >> components >> bits >> encoding >>
          interpolated >> object >> id >> across >> down))
      continue;
    ++images;
    EXPECT_EQ(interpolated, "no");
    EXPECT_GE(std::min(across, down), 300) << line;
  }
  EXPECT_EQ(images, 4);
}

TEST(CellImages, OfAWholeSceneHaveALimitedNumberOfPixels) {
  Scene scene = blank(16000, 16000);
  for (int i = 0; i < 48; ++i)
    scene.add(
        testing::image({2000.F * static_cast<float>(i % 8), 2000.F * static_cast<float>(i / 8), 1900, 1900},
                       testing::noise(64, 64)));
  const double resolution = image_resolution(scene);
  EXPECT_LT(resolution, 300.0 / 96);
  double pixels = 0;
  for (const Item& item : scene.items) {
    const Image& image = std::get<Image>(item);
    const Enlargement by = enlargement_of(*image.bitmap, image.dest, resolution);
    pixels += 64.0 * by.across * 64.0 * by.down;
  }
  EXPECT_LT(pixels, 40e6);
  EXPECT_EQ(image_resolution(blank(10, 10)), 300.0 / 96);
}

}  // namespace
}  // namespace headscope::viz::pdf_test
