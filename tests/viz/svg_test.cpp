#include <cstdio>

#include "tests/support/matchers.h"
#include "tests/support/odd_characters.h"
#include "tests/viz/pictures.h"
#include "tests/viz/xml_check.h"
#include "viz/players/players.h"
#include "viz/scene/picture.h"

namespace headscope::viz::svg_test {
namespace {

using namespace testing;

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
  for (std::size_t at = svg.find(" id=\""); at != svg.npos; at = svg.find(" id=\"", at + 1)) {
    const std::size_t begin = at + 5, end = svg.find('"', begin);
    const std::string id = svg.substr(begin, end - begin);
    EXPECT_EQ(ids.count(id), 0U) << id;
    ids[id] = svg.substr(end, svg.find("\n", end) - end);
  }
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
  const std::string odd = headscope::testing::odd_characters();
  Scene scene = blank(100, 100);
  scene.add(make_text(*fonts(), odd, {3, 20}, 14, {}));
  const std::string svg = to_svg(scene, *fonts(), {.text = true, .description = {odd, odd}});
  EXPECT_EQ(xml_error(svg), "");
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
  EXPECT_EQ(xml_error(parts(65, 65)), "");
}

TEST(Svg, ClosesEveryClip) {
  Scene scene = blank(100, 100);
  scene.add(PopClip{});
  scene.add(PushClip{{0, 0, 10, 10}});
  scene.add(PushClip{{5, 5, 10, 10}});
  scene.add(FillRect{{0, 0, 100, 100}, {}});
  const std::string svg = svg_of(scene);
  EXPECT_EQ(xml_error(svg), "");
  EXPECT_EQ(count(svg, "<clipPath"), 2U);
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

}  // namespace
}  // namespace headscope::viz::svg_test
