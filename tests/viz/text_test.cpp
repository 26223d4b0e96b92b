#include "viz/text/text.h"

#include "tests/support/matchers.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"
#include "viz/scene/picture.h"
#include "viz/text/utf8.h"

namespace headscope::viz::text_test {
namespace {

const Fonts& fonts() {
  static const auto loaded = Fonts::load();
  return *loaded;
}

std::string random_bytes(std::mt19937& random, std::size_t length) {
  // Half of the bytes are lead or continuation bytes, so that complete and broken sequences occur.
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text.push_back(static_cast<char>(random() % 256));
  return text;
}

std::vector<std::uint32_t> glyph_indices(std::string_view text) {
  std::vector<std::uint32_t> indices;
  for (const Glyph& g : fonts().layout(text, FontStyle::regular, 14).glyphs) indices.push_back(g.index);
  return indices;
}

TEST(Utf8, ReadsBackEveryCodePoint) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    std::string text;
    append_utf8(text, code);
    const Decoded c = decode_utf8(text, 0);
    ASSERT_TRUE(c.valid) << std::hex << static_cast<unsigned>(code);
    ASSERT_EQ(c.code, code);
    ASSERT_EQ(c.length, text.size());
  }
}

TEST(Utf8, RejectsWhatIsNoUtf8OneByteAtATime) {
  for (const std::string_view broken :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE2\x82", "\xE0\x80\x80", "\xE0\x9F\xBF",
        "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xFF"}) {
    const Decoded c = decode_utf8(broken, 0);
    EXPECT_FALSE(c.valid);
    EXPECT_EQ(c.length, 1U);
    EXPECT_EQ(c.code, static_cast<unsigned char>(broken[0]));
  }
}

TEST(Layout, ClustersCoverAnyBytesWithoutGaps) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::string text = random_bytes(random, random() % 60);
    const TextLayout layout = fonts().layout(text, FontStyle::regular, 14);
    std::size_t end = 0;
    float x = 0;
    for (const Cluster& c : layout.clusters) {
      EXPECT_EQ(c.start, end);
      EXPECT_GT(c.end, c.start);
      EXPECT_NEAR(c.x, x, 1e-3F * (1 + x));
      end = c.end;
      x = c.x + c.advance;
    }
    EXPECT_EQ(end, text.size());
    EXPECT_NEAR(layout.width, x, 1e-3F * (1 + x));
    EXPECT_EQ(layout.width, fonts().width(text, FontStyle::regular, 14));
  }
}

TEST(Layout, Kerns) {
  const std::array<std::filesystem::path, 1> dejavu{
      "/usr/share/fonts/truetype/dejavu"};  // alike in each Debian
  if (!std::filesystem::exists(dejavu[0])) GTEST_SKIP() << "DejaVu is not installed";
  const auto loaded = Fonts::load(dejavu);
  const auto width = [&](std::string_view text) { return loaded->width(text, FontStyle::regular, 100); };
  EXPECT_GT(width("A") + width("V") - width("AV"), 1);
}

TEST(Layout, DigitsAreEquallyWideInEveryStyle) {
  for (const FontStyle style : {FontStyle::regular, FontStyle::medium, FontStyle::bold, FontStyle::mono}) {
    for (char digit = '1'; digit <= '9'; ++digit) {
      EXPECT_NEAR(fonts().width(std::string(4, digit), style, 14), fonts().width("0000", style, 14), 1e-4F);
    }
  }
}

TEST(Layout, ShowsBrokenBytesInHexadecimal) {
  EXPECT_EQ(glyph_indices("\xE2\x80"), glyph_indices("<E2><80>"));
  const TextLayout layout = fonts().layout(
      "a\xE2"
      "b",
      FontStyle::regular, 14);
  ASSERT_EQ(layout.clusters.size(), 3U);
  EXPECT_EQ(layout.glyphs.size(), 6U);
  EXPECT_EQ(layout.clusters[1].start, 1U);
  EXPECT_EQ(layout.clusters[1].end, 2U);
}

TEST(Layout, ShowsControlCharactersAsPictures) {
  EXPECT_EQ(glyph_indices("\n"), glyph_indices("␊"));
  EXPECT_EQ(glyph_indices(std::string_view("\0", 1)), glyph_indices("␀"));
  EXPECT_EQ(glyph_indices("\x7F"), glyph_indices("␡"));
  EXPECT_EQ(glyph_indices("\xC2\x85"), glyph_indices("<U+0085>"));
}

TEST(Layout, TabsAreFourSpacesWideAndJoinersTakeNoRoom) {
  const auto width = [](std::string_view text) { return fonts().width(text, FontStyle::regular, 14); };
  EXPECT_NEAR(width("\t"), width("    "), 1e-3F);
  EXPECT_NEAR(width("a\u200Db"), width("a") + width("b"), 1e-3F);
  EXPECT_TRUE(glyph_indices("\u200D\uFE0F").empty());
}

TEST(Layout, ShowsTheCodePointOfWhatNoFontHas) {
  EXPECT_EQ(glyph_indices("a\U0010FFFDb"), glyph_indices("a<U+10FFFD>b"));
}

TEST(Layout, IsTheSameFromManyThreads) {
  const auto fresh = Fonts::load();
  const std::string text = "Straße 日本語 Ελλάδα 😀 \U0010FFFD";
  const TextLayout expected = fonts().layout(text, FontStyle::bold, 13);
  std::vector<TextLayout> layouts(4);
  {
    std::vector<std::jthread> threads;
    for (TextLayout& layout : layouts) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) layout = fresh->layout(text, FontStyle::bold, 13);
      });
    }
  }
  for (const TextLayout& layout : layouts) EXPECT_EQ(layout.glyphs, expected.glyphs);
}

TEST(Fit, ShortensToAnyWidthAtWholeCharacters) {
  const std::string text = "Aufmerksamkeit über alles 日本語";
  for (float room = 0; room < 240; room += 3.5F) {
    const std::string fitted = fonts().fit(text, FontStyle::regular, 14, room);
    EXPECT_LE(fonts().width(fitted, FontStyle::regular, 14), room + 0.01F);
    EXPECT_TRUE(is_utf8(fitted));
    if (fitted.empty() || fitted == text) continue;
    ASSERT_TRUE(fitted.ends_with("…")) << fitted;
    EXPECT_TRUE(text.starts_with(fitted.substr(0, fitted.size() - std::string_view("…").size())));
  }
  EXPECT_EQ(fonts().fit(text, FontStyle::regular, 14, 1), "");
  // Found by a fuzzer: a tab before the cut made room for no ellipsis.
  const std::string odd(
      "The robT\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00h\xfb"
      "b h\xfb\xff\xff\xff"
      "e \x00\x8eThe robTh\xfb"
      "bTh\xfb\xff\xff\xff"
      "e ro`ot\xef\x03 \xff\xfe\x09\x1b[2\xbf",
      65);
  const float most = 0.6F * fonts().width(odd, FontStyle::regular, 28);
  EXPECT_LE(fonts().width(fonts().fit(odd, FontStyle::regular, 28, most), FontStyle::regular, 28),
            most + 0.01F);
}

TEST(Visible, WritesTokensAsLabels) {
  EXPECT_EQ(visible(" robot"), "·robot");
  EXPECT_EQ(visible("\n\n"), "↵↵");
  EXPECT_EQ(visible("\ta\r"), "⇥a␍");
  EXPECT_EQ(visible("\xE2\x80"), "<E2><80>");
  EXPECT_EQ(visible("caf\xC3\xA9"), "café");
  EXPECT_EQ(visible("\u200D\uFE0F"), "<U+200D><U+FE0F>");
  EXPECT_EQ(visible("\u00A0\u2003"), "⍽<U+2003>");
  EXPECT_EQ(visible("\uFFFE\uFDD0\U0001FFFF\uFFFD"), "<U+FFFE><U+FDD0><U+1FFFF>\uFFFD");
  EXPECT_EQ(visible(std::string_view("\0", 1)), "␀");
  EXPECT_EQ(visible(""), "");
}

TEST(MakeText, PutsTheAnchorWhereTheAlignmentSays) {
  const float width = fonts().width("query", FontStyle::regular, 14);
  const auto origin = [](Align align, float angle) {
    return make_text(fonts(), "query", {100, 50}, 14, {}, FontStyle::regular, align, angle).origin;
  };
  EXPECT_EQ(origin(Align::left, 0), (Point{100, 50}));
  EXPECT_NEAR(origin(Align::center, 0).x, 100 - width / 2, 1e-3F);
  EXPECT_NEAR(origin(Align::right, 0).x, 100 - width, 1e-3F);
  const Point turned =
      origin(Align::right, -1.57079633F);  // reads upwards: the end at the anchor, the start below it
  EXPECT_NEAR(turned.x, 100, 1e-3F);
  EXPECT_NEAR(turned.y, 50 + width, 1e-3F);
}

class FontFolder : public ::testing::Test {
 protected:
  std::string message() const {
    return message_of<std::runtime_error>([&] { Fonts::load(std::span(&folder_, 1)); });
  }

  const headscope::testing::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

TEST_F(FontFolder, WithoutFontsNamesThePackages) {
  EXPECT_THAT(message(), HasSubstr("fonts-dejavu-core"));
}

TEST_F(FontFolder, WithABrokenFontIsAsGoodAsEmpty) {
  std::ofstream(folder_ / "DejaVuSans.ttf") << std::string(4096, 'x');
  std::ofstream(folder_ / "Inter-Regular.otf");
  EXPECT_THAT(message(), HasSubstr("no usable font"));
}

TEST_F(FontFolder, WithOneFontSomewhereBelowServesEveryStyle) {
  const std::filesystem::path file = fonts().file(FontStyle::mono), deep = folder_ / "a/\u00e9t\u00e9";
  std::filesystem::create_directories(deep / "DejaVuSans.ttf");  // a folder is no font
  std::filesystem::copy(file, deep / file.filename());
  const auto loaded = Fonts::load(std::span(&folder_, 1));
  for (const FontStyle style : {FontStyle::regular, FontStyle::medium, FontStyle::bold, FontStyle::mono}) {
    EXPECT_EQ(loaded->file(style).parent_path(), deep);
    EXPECT_GT(loaded->width("any", style, 10), 10);
  }
}

TEST(Wrap, BreaksAtSpacesButNotBeforeAPercentSign) {
  const Style style{light_theme(), fonts(), 14, 1};
  const float width = style.width("from 99.0", 14) + 1;
  EXPECT_THAT(wrap(style, "from 99.0 % to 1 %", 14, FontStyle::regular, width),
              ElementsAre("from", "99.0 % to", "1 %"));
  EXPECT_THAT(wrap(style, "from 99.0 to", 14, FontStyle::regular, width), ElementsAre("from 99.0", "to"));
}

}  // namespace
}  // namespace headscope::viz::text_test
