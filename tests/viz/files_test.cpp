// Pictures as files: PDF, which poppler, if it is installed, renders and reads, compared with the pixels;
// SVG; and notes in files of all kinds.
#include <cstdio>
#include <iterator>
#include <regex>

#include "tests/support/matchers.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"
#include "tests/viz/pictures.h"
#include "viz/players/cell_images.h"
#include "viz/players/players.h"
#include "viz/scene/notes.h"
#include "viz/scene/picture.h"
#include "viz/scene/scene.h"
#include "viz/text/utf8.h"

namespace headscope::viz::files_test {
namespace {

using headscope::testing::TemporaryFolder;
using namespace testing;

/// The output of a command; empty if it fails.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> piece{};
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe))
    text.append(piece.data(), count);
  return ::pclose(pipe) == 0 ? text : "";
}

/// The only page of a PDF as pixels, at `dpi` per inch; empty if poppler cannot read it.
Bitmap poppler_pixels(std::string_view pdf, double dpi) {
  const headscope::testing::TemporaryFolder folder;
  const std::string file = folder.write("a.pdf", pdf).string(), out = (folder.path() / "p").string();
  output_of("pdftoppm -r " + std::to_string(dpi) + " -singlefile '" + file + "' '" + out + "' && echo");
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

class PopplersPdf : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("pdftoppm -v > /dev/null 2>&1") != 0) GTEST_SKIP() << "poppler-utils is not installed";
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

Scene with_text(std::string_view text, FontStyle style = FontStyle::regular, float angle = 0) {
  Scene scene = blank(400, 60);
  scene.add(make_text(*fonts(), text, {10, 40}, 20, {0, 0, 0, 255}, style, Align::left, angle));
  return scene;
}

/// Characters that file formats forbid or stumble over: all controls and noncharacters, and bytes that are
/// not UTF-8.
std::string odd_characters() {
  std::string text = "a";
  const auto add = [&](char32_t first, char32_t last) {
    for (char32_t code = first; code <= last; ++code) append_utf8(text, code);
  };
  add(0, 0x1F);
  add(0x7F, 0x9F);
  add(0xFDD0, 0xFDEF);
  for (char32_t plane = 0; plane <= 0x10; ++plane) add(plane << 16 | 0xFFFE, plane << 16 | 0xFFFF);
  return text + "\xC3 \xED\xA0\x80 \xFF z";
}

TEST(Pdf, IsTheSameFileWheneverItIsWritten) {
  const std::string pdf = to_pdf(testing::everything(light_theme()), *fonts());
  EXPECT_THAT(pdf, AllOf(StartsWith("%PDF-1."), Not(HasSubstr("CreationDate")), HasSubstr("%%EOF")));
  EXPECT_EQ(to_pdf(testing::everything(light_theme()), *fonts()), pdf);
}

TEST(Pdf, HoldsAnyTextAndDescription) {
  const std::string odd = odd_characters();
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
    const Bitmap expected = rasterize(scene, *fonts(), static_cast<float>(scale));
    // Edges are blended differently.
    EXPECT_LT(testing::differing(pixels_of(scene, scale), expected, 90), most) << i;
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
    const std::vector<std::string> columns{std::istream_iterator<std::string>(in), {}};
    if (columns.size() < 14 || columns[0] == "page") continue;  // a heading
    ++images;
    EXPECT_EQ(columns[9], "no") << "interpolated";
    EXPECT_GE(std::min(std::stod(columns[12]), std::stod(columns[13])), 300) << line;
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

std::string svg_of(const Scene& scene, bool text = false) {
  return to_svg(scene, *fonts(), {text});
}

template <class T>
std::string svg_of_item(T item, bool text = false) {
  Scene scene = blank(100, 100);
  scene.add(std::move(item));
  return svg_of(scene, text);
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// What an id of a picture names.
std::map<std::string, std::string> ids_of(const std::string& svg) {
  std::map<std::string, std::string> ids;
  const std::regex id(" id=\"([^\"]*)\"(.*)");
  for (std::sregex_iterator at(svg.begin(), svg.end(), id), end; at != end; ++at)
    EXPECT_TRUE(ids.emplace(at->str(1), at->str(2)).second) << at->str(1);
  return ids;
}

/// In a page that has two pictures, an id is the same only for the same shape, which each may use of the
/// other.
TEST(Svg, TwoPicturesInAPageShareNoIdButForTheSameShape) {
  const auto svg = [](const char* word, float clip) {
    Scene scene;
    scene.width = scene.height = 100;
    const Theme theme = light_theme();
    const Style style{theme, *fonts()};
    scene.add(PushClip{{0, 0, clip, 50}});
    add_label(scene, style, word, {10, 20}, 12, {0, 0, 0});
    scene.add(PopClip{});
    scene.add(PushClip{{0, 0, clip, 50}});
    scene.add(PopClip{});
    return to_svg(scene, *fonts(), {.description = {.title = word, .words = "a picture"}});
  };
  const auto one = ids_of(svg("abc", 40)), two = ids_of(svg("cde", 50));
  EXPECT_EQ(one.size(), 4U) << "three glyphs and one clip";
  int shared = 0;
  for (const auto& [id, shape] : one) {
    const auto same = two.find(id);
    if (same == two.end()) continue;
    EXPECT_EQ(same->second, shape);
    ++shared;
  }
  EXPECT_EQ(shared, 1) << "the letter c";
}

TEST(Svg, DefinesEachGlyphOnce) {
  Scene scene = blank(100, 100);
  scene.add(make_text(*fonts(), "aaaa", {0, 20}, 14, {}));
  scene.add(make_text(*fonts(), "aaba a", {0, 40}, 22, {}));
  const std::string svg = svg_of(scene);
  EXPECT_EQ(count(svg, "<path id="), 2U);
  EXPECT_EQ(count(svg, "<use "), 9U);  // the space has no ink
}

TEST(Svg, WritesTextAsTextWhenAsked) {
  const std::string svg =
      svg_of_item(make_text(*fonts(), "a < b & \"c\"\x01\xE2", {3, 20}, 14, {}, FontStyle::mono), true);
  EXPECT_THAT(svg, HasSubstr(">a &lt; b &amp; &quot;c&quot;␁&lt;E2&gt;</text>"));
  EXPECT_THAT(svg, HasSubstr("monospace"));
  EXPECT_THAT(svg, HasSubstr("xml:space=\"preserve\""));
  EXPECT_EQ(count(svg, "<use "), 0U);
}

TEST(Svg, ShowsWhatXmlCannotHold) {
  const std::string odd = odd_characters();
  Scene scene = blank(100, 100);
  scene.add(make_text(*fonts(), odd, {3, 20}, 14, {}));
  const std::string svg = to_svg(scene, *fonts(), {.text = true, .description = {odd, odd}});
  for (const char* shown : {"␀", "&lt;U+FFFE&gt;", "&lt;U+10FFFF&gt;", "&lt;FF&gt;"})
    EXPECT_EQ(count(svg, shown), 3U) << shown << " in title, description and text";
}

TEST(Svg, MergedCellsAreTheBitmapAgain) {
  const auto cells = testing::noise(13, 9);
  auto coarse = std::make_shared<Bitmap>(*cells);
  for (Color& c : coarse->pixels)
    c = c.r < 128 ? Color{0, 0, 0, 255} : Color{255, 0, 0, 255};  // many neighbours of the same colour
  Scene scene = blank(100, 100, {0, 0, 0, 0});
  scene.add(testing::image({0, 0, 13, 9}, coarse));
  const std::string svg = svg_of(scene);
  Bitmap painted{13, 9, std::vector<Color>(13 * 9)};
  std::vector<int> times(13 * 9);
  for (std::size_t at = svg.find("<rect"); at != std::string::npos; at = svg.find("<rect", at + 1)) {
    int x = 0, y = 0, w = 0, h = 0;
    char fill[8] = {};
    ASSERT_EQ(std::sscanf(svg.c_str() + at,
                          "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%7[0-9a-f]\"", &x, &y,
                          &w, &h, fill),
              5);
    for (int r = y; r < y + h; ++r) {
      for (int c = x; c < x + w; ++c) {
        painted.pixels[r * 13 + c] = fill[0] == 'f' ? Color{255, 0, 0, 255} : Color{0, 0, 0, 255};
        ++times[r * 13 + c];
      }
    }
  }
  EXPECT_EQ(painted.pixels, coarse->pixels);
  for (const int t : times) EXPECT_EQ(t, 1);
}

TEST(Svg, EmbedsLargeImages) {
  const auto parts = [](int width, int height) {
    return svg_of_item(testing::image({0, 0, 300, 300}, testing::noise(width, height)));
  };
  EXPECT_THAT(parts(64, 64), Not(HasSubstr("<image")));
  EXPECT_THAT(parts(65, 2), HasSubstr("image-rendering:pixelated"));
  EXPECT_THAT(parts(2, 65), HasSubstr("xlink:href=\"data:image/png;base64,iVBORw0KGgo"));
}

TEST(Svg, ClosesEveryClip) {
  Scene scene = blank(100, 100);
  scene.add(PopClip{});
  scene.add(PushClip{{0, 0, 10, 10}});
  scene.add(PushClip{{5, 5, 10, 10}});
  scene.add(FillRect{{0, 0, 100, 100}, {}});
  const std::string svg = svg_of(scene);
  EXPECT_EQ(count(svg, "<clipPath"), 2U);
  EXPECT_EQ(count(svg, "<g clip-path"), count(svg, "</g>"));
}

TEST(Svg, HasNoWordsForWhatIsNoNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  Scene scene = blank(100, 100);
  scene.add(Polyline{{{0, 0}, {10, 10}, {nan, 5}, {20, 20}, {30, 30}}, {}, 1});
  scene.add(Segments{{{0, 0}, {inf, 1}, {1, 1}, {2, 2}}, {}, 1});
  scene.add(FillPolygon{{{0, 0}, {nan, 1}, {1, 1}}, {}});
  scene.add(FillRect{{0, 0, inf, 1}, {}});
  const std::string svg = svg_of(scene);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_EQ(count(svg, "M"), 3U) << "two stretches and a line";
  EXPECT_EQ(count(svg, "<polygon"), 0U);
}

const std::string kText = R"({"prompt": "a < b && \"c\" > 'd' ]]> &amp; \u00e9"})";

std::string png_with(std::vector<Note> notes) {
  const std::vector<std::uint8_t> file = encode_png(*testing::noise(9, 7), 2, notes);
  return {file.begin(), file.end()};
}

std::string svg_with(std::vector<Note> notes) {
  return to_svg(testing::blank(40, 30), *testing::fonts(), {.text = false, .notes = std::move(notes)});
}

std::string pdf_with(std::vector<Note> notes) {
  return to_pdf(testing::blank(10, 10), *testing::fonts(), notes);
}

std::string problem_of(const std::string& file) {
  return message_of<std::runtime_error>([&] { find_note(file, "recipe"); });
}

std::string u32(std::uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8),
          static_cast<char>(v)};
}

/// A minimal PNG with one chunk, sufficient for reading texts.
std::string png_of_chunk(const std::string& type, const std::string& data) {
  return std::string("\x89PNG\r\n\x1a\n") + u32(static_cast<std::uint32_t>(data.size())) + type + data +
         u32(crc32(type + data));
}

TEST(Notes, AreReadBack) {
  const std::vector<Note> notes{{"other", "x"}, {"recipe", kText}};
  for (const std::string& file : {png_with(notes), svg_with(notes), pdf_with(notes)}) {
    EXPECT_EQ(find_note(file, "recipe"), kText);
    EXPECT_EQ(find_note(file, "other"), "x");
    EXPECT_EQ(find_note(file, "recip"), std::nullopt);
    EXPECT_EQ(find_note(file, "recipes"), std::nullopt);
  }
  for (const std::string& file :
       {png_with({}), svg_with({}), pdf_with({}), std::string(), std::string("GIF89a")})
    EXPECT_EQ(find_note(file, "recipe"), std::nullopt);
}

TEST(Notes, LeaveThePictureAsItIs) {
  const std::string with = svg_with({{"recipe", kText}});
  const std::size_t at = with.find("<metadata"), end = with.find("</metadata>\n") + 12;
  EXPECT_EQ(with.substr(0, at) + with.substr(end), svg_with({}));
  EXPECT_THAT(png_with({{"recipe", kText}}), HasSubstr(std::string("iTXtrecipe\0\0\0\0\0{", 16)));
}

TEST(Notes, OfAnSvgSurviveAnEditor) {
  EXPECT_EQ(
      find_note("<?xml?>\n<svg>\n  <metadata\n     id=\"m1\"><rdf:RDF/></metadata>\n"
                "<metadata\n     xml:space=\"preserve\"\n     id=\"recipe\">&quot;a&apos;</metadata></svg>",
                "recipe"),
      "\"a'");
  EXPECT_EQ(
      find_note("\n<!-- saved -->\n<ns0:svg><ns0:metadata id=\"recipe\">&quot;</ns0:metadata></ns0:svg>",
                "recipe"),
      "\"");
  for (const char* other :
       {"<svg><no metadata id=\"recipe\">a</metadata></svg>",
        "<svg></metadata id=\"recipe\">a</metadata></svg>", "<svg>metadata id=\"recipe\">a</metadata></svg>",
        "<svg><xmetadata id=\"recipe\">a</metadata></svg>"})
    EXPECT_EQ(find_note(other, "recipe"), std::nullopt) << other;
  EXPECT_EQ(find_note("<svg><metadata xid=\"recipe\">a</metadata></svg>", "recipe"), std::nullopt);
}

TEST(Notes, ThatAreHostileAreASentence) {
  const std::string nul(1, '\0');
  EXPECT_EQ(find_note(png_of_chunk("tEXt", "recipe" + nul + "a"), "recipe"), "a");
  EXPECT_THAT(problem_of(png_of_chunk("zTXt", "recipe" + nul + nul + "x\x9c")), HasSubstr("compressed"));
  EXPECT_THAT(problem_of(png_of_chunk("iTXt", "recipe" + nul + "\x01" + nul + nul + nul + "x\x9c")),
              HasSubstr("compressed"));
  EXPECT_THAT(problem_of(png_of_chunk("iTXt", "recipe" + nul)), HasSubstr("truncated"));
  EXPECT_THAT(problem_of(png_of_chunk("iTXt", "recipe" + nul + nul + nul + "en")), HasSubstr("truncated"));
  std::string damaged = png_with({{"recipe", kText}});
  damaged[damaged.find("prompt")] = 'P';
  EXPECT_THAT(problem_of(damaged), HasSubstr("damaged"));
  EXPECT_THAT(problem_of("<svg><metadata id=\"recipe\">abc"), HasSubstr("truncated"));
  EXPECT_THAT(problem_of("<!DOCTYPE x><svg><metadata id=\"recipe\">"), HasSubstr("truncated"));
  EXPECT_THAT(problem_of("<svg><metadata id=\"recipe\">&lol;</metadata>"), HasSubstr("entity"));
  EXPECT_THAT(problem_of("<svg><metadata id=\"recipe\">&#65;</metadata>"), HasSubstr("entity"));
  EXPECT_THAT(problem_of("<svg><metadata id=\"recipe\"><a/></metadata>"), HasSubstr("elements"));
}

}  // namespace
}  // namespace headscope::viz::files_test
