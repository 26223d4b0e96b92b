// The tokens: labels, shades and figures read back, against the table and the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/app/view_fixture.h"
#include "tests/viz/text_boxes.h"

namespace headscope::app {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using viz::testing::DrawnPage;
using viz::testing::items_of;
using viz::testing::texts;

TEST(Tokens, AChipForEachTokenAlsoBeyondTheContext) {
  const int n_ctx = bundled()->transformer->config().n_ctx;
  const Scenario s = Scenario::of_length(n_ctx + 30);
  ViewContext c = s.context(800, 100, light());
  const View& view = *find_view("tokens");
  c.height = view.whole_height(c);
  const Picture picture = view.build(c);
  ASSERT_EQ(picture.regions.size(), static_cast<std::size_t>(n_ctx + 30));
  const Hover beyond = view.hover(c, picture, {n_ctx + 5, 0, 0});
  EXPECT_THAT(beyond.lines, Contains(HasSubstr("not run")));
  const Hover within = view.hover(c, picture, {5, 0, 0});
  EXPECT_THAT(within.lines, Contains(HasSubstr("the model found it")));
  EXPECT_THAT(within.lines, Contains(HasSubstr("weight from query")));
}

TEST(Tokens, LabelsShadesAndFiguresAreThoseOfTheTableAndTheReference) {
  Scenario s(kRobot);
  s.select({2, 1, 5});
  const std::vector<double>& weights = reference_head(s).weights[5];
  const Shown shown("tokens", s, 900, 120);
  const Table table = shown.table();
  ASSERT_EQ(table.rows.size(), static_cast<std::size_t>(s.length()));
  const auto fill_of = [&](int position) {
    for (const viz::FillRect& item : items_of<viz::FillRect>(shown.scene()))
      if (item.rect == shown.region(shown.chip(position)).rect) return item.color;
    return viz::Color{0, 0, 0, 0};
  };
  // How far a chip is from one without weight goes with its weight.
  const viz::Color blank = fill_of(s.length() - 1);
  const auto strongest = static_cast<int>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  DrawnPage page = shown.page();
  for (int position = 0; position < s.length(); ++position) {
    SCOPED_TRACE("position " + std::to_string(position));
    const auto i = static_cast<std::size_t>(position);
    const std::vector<std::string>& row = table.rows[i];
    const auto drawn = page.take(shown.region(shown.chip(position)).rect);
    ASSERT_EQ(drawn.size(), 1U);
    EXPECT_EQ(drawn[0].text, row[2]);
    EXPECT_EQ(row[0], std::to_string(position));
    const auto channel = [&](auto get) {
      const double whole = get(fill_of(strongest)) - get(blank);
      EXPECT_NEAR(get(fill_of(position)) - get(blank),
                  whole * weights[i] / weights[static_cast<std::size_t>(strongest)], 1.5);
    };
    channel([](viz::Color c) { return static_cast<double>(c.r); });
    channel([](viz::Color c) { return static_cast<double>(c.g); });
    channel([](viz::Color c) { return static_cast<double>(c.b); });

    const std::vector<std::string> lines = shown.tooltip(shown.chip(position));
    const int token = s.run->tokens.tokens[i].id;
    EXPECT_THAT(lines[1], HasSubstr("id " + row[1] + ", bytes " + row[3]));
    if (position > 0) {
      const double probability = reference(s).probabilities(position - 1)[static_cast<std::size_t>(token)];
      EXPECT_TRUE(
          agree(number_after(lines, "the model found it "), row[6], probability, 1e-5 * (1 + probability)));
      const int rank = reference(s).rank(position - 1, token);
      EXPECT_EQ(row[7], std::to_string(rank));
      EXPECT_THAT(lines, Contains(HasSubstr("(its guess " + std::to_string(rank) + " of " +
                                            with_commas(reference(s).logits[0].size()) + ")")));
    } else {
      EXPECT_EQ(row[6], "");
      EXPECT_THAT(lines, Not(Contains(HasSubstr("the model found it"))));
    }
    if (position <= 5) {
      EXPECT_TRUE(agree(number_after(lines, "in L2 H1: "), row[8], weights[i], 1e-5));
    } else {
      EXPECT_EQ(row[8], "");
      EXPECT_THAT(lines, Contains(HasSubstr("masked")));
    }
  }
  EXPECT_EQ(page.numbers_left(), "");
}

TEST(Tokens, LineEndsBreakLinesAndScrollingFollows) {
  const Scenario s("one\ntwo\nthree\nfour\nfive\nsix");
  ViewContext c = s.context(800, 60, light());
  const View& view = *find_view("tokens");
  ViewContext high = c;
  high.height = view.whole_height(c);
  const Picture whole = view.build(high);
  std::set<float> lines;
  for (const viz::Region& region : whole.regions) lines.insert(region.rect.y);
  EXPECT_EQ(lines.size(), 6U);
  EXPECT_EQ(whole.regions.back().rect.y, *lines.rbegin()) << "the query's";
  set(c, "first-line", "0");
  EXPECT_EQ(view.build(c).regions.front().id, 0);
  for (const char* below : {"100", "auto"}) {  // as far down as there are lines; where the query's is
    set(c, "first-line", below);
    const Picture end = view.build(c);
    EXPECT_EQ(end.regions.back().id, s.run->run->length() - 1) << below;
    EXPECT_GT(end.regions.front().id, 0) << below;
  }
  c.selection.query = 0;
  EXPECT_EQ(view.build(c).regions.front().id, 0);
}

TEST(Tokens, BytesThatAreNoTextAreNamed) {
  const Scenario s("a\xE2\x82 b");
  const auto all = texts(find_view("tokens")->build(s.context(800, 60, light())).scene);
  std::string joined;
  for (const std::string& text : all) joined += text;
  EXPECT_THAT(joined, HasSubstr("<E2>"));
}

}  // namespace
}  // namespace headscope::app
