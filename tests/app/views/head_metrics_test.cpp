// Metrics of heads: by hand on a small pattern, against the reference on the bundled model, and read back
// from the picture.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "app/run/thumbnails.h"
#include "app/views/common.h"
#include "tests/app/view_fixture.h"
#include "tests/viz/text_boxes.h"

namespace headscope::app {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using viz::testing::texts;

constexpr int kCell = 0, kRow = 1;
constexpr const char* kTwice = "one two three one two three one two";

int region_of(const Shown& shown, int role, int id = 0) {
  const auto& regions = shown.picture().regions;
  for (std::size_t i = 0; i < regions.size(); ++i)
    if (regions[i].role == role && regions[i].id == id) return static_cast<int>(i);
  return -1;
}

TEST(HeadMetrics, AreThoseWorkedOutByHand) {
  // Tokens a b a a: of query 2 the token occurred at 0, of query 3 at 2 and 0.
  const std::vector<int> tokens{7, 8, 7, 7};
  EXPECT_THAT(earlier_occurrences(tokens), ElementsAre(-1, -1, 0, 2));
  const std::vector<float> pattern{1,    0,     0,    0,  //
                                   0.5,  0.5,   0,    0,  //
                                   0.25, 0.5,   0.25, 0,  //
                                   0.5,  0.125, 0.25, 0.125};
  const std::vector<int> earlier = earlier_occurrences(tokens);
  ThumbnailMaker maker(4, earlier);
  maker.add(0, {pattern.data(), 4, 4, 4});
  const Thumbnail t = std::move(maker).finish();
  EXPECT_FLOAT_EQ(t.mean_first, (0.5F + 0.25F + 0.5F) / 3);
  EXPECT_FLOAT_EQ(t.mean_previous, (0.5F + 0.5F + 0.25F) / 3);
  EXPECT_FLOAT_EQ(t.mean_self, (0.5F + 0.25F + 0.125F) / 3);
  EXPECT_FLOAT_EQ(t.mean_entropy, (1 + 1.5F + 1.75F) / 3);
  EXPECT_FLOAT_EQ(t.mean_distance, (0.5F + 1 + (1.5F + 0.25F + 0.25F)) / 3);
  EXPECT_FLOAT_EQ(t.mean_duplicate, (0.25F + 0.75F) / 2);
  // Position 1 follows the first a; what follows the a at 2 is query 3 itself.
  EXPECT_FLOAT_EQ(t.mean_induction, (0.5F + 0.125F) / 2);
}

TEST(HeadMetrics, AreTheReferencesForEveryHead) {
  const Scenario s(kTwice);
  const Table table = Shown("metrics", s, 900, 700).table();
  ASSERT_THAT(table.header, ElementsAre("layer", "head", "first", "previous", "itself", "induction",
                                        "duplicate", "entropy", "distance"));
  const std::vector<int>& tokens = s.run->run->tokens;
  const int n = s.length();
  ASSERT_EQ(table.rows.size(), static_cast<std::size_t>(s.config().n_layer * s.config().n_head));
  for (const auto& row : table.rows) {
    SCOPED_TRACE("L" + row[0] + " H" + row[1]);
    const auto& w = reference_head(s, std::stoi(row[0]), std::stoi(row[1])).weights;
    double first = 0, previous = 0, self = 0, induction = 0, duplicate = 0, entropy = 0, distance = 0;
    int induce = 0, repeat = 0;
    for (int q = 1; q < n; ++q) {
      const auto& weights = w[static_cast<std::size_t>(q)];
      first += weights[0], previous += weights[static_cast<std::size_t>(q) - 1];
      self += weights[static_cast<std::size_t>(q)];
      bool induces = false, repeats = false;
      for (int k = 0; k <= q; ++k) {
        const double v = weights[static_cast<std::size_t>(k)];
        entropy -= v > 0 ? v * std::log2(v) : 0;
        distance += v * (q - k);
        if (k < q && tokens[static_cast<std::size_t>(k)] == tokens[static_cast<std::size_t>(q)])
          repeats = true, duplicate += v;
        if (k > 0 && k < q && tokens[static_cast<std::size_t>(k) - 1] == tokens[static_cast<std::size_t>(q)])
          induces = true, induction += v;
      }
      induce += induces, repeat += repeats;
    }
    ASSERT_GT(induce, 0);
    const double queries = n - 1;
    const std::vector<double> expected{first / queries,    previous / queries, self / queries,
                                       induction / induce, duplicate / repeat, entropy / queries,
                                       distance / queries};
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(std::stod(row[2 + i]), expected[i], 1e-4) << table.header[2 + i];
  }
}

TEST(HeadMetrics, TheListIsSortedAndLeadsToItsHeads) {
  const Scenario s(kTwice);
  for (const char* metric : {"first", "previous", "self", "induction", "duplicate", "entropy", "distance"}) {
    SCOPED_TRACE(metric);
    for (const bool least : {false, true}) {
      const Shown shown("metrics", s, 1200, 1500,
                        {{"metric", metric}, {"least-first", least ? "yes" : "no"}});
      const Table table = shown.table();
      const auto column = static_cast<std::size_t>(
          std::ranges::find(table.header, std::string(metric) == "self" ? "itself" : metric) -
          table.header.begin());
      std::vector<double> values;
      for (const int id : ids_of_role(shown.picture(), kRow))
        values.push_back(std::stod(table.rows.at(static_cast<std::size_t>(id))[column]));
      ASSERT_EQ(values.size(), table.rows.size()) << "all of them have room";
      EXPECT_TRUE(least ? std::ranges::is_sorted(values) : std::ranges::is_sorted(values, std::greater{}));
    }
  }
  const Shown shown("metrics", s, 1200, 1500);
  EXPECT_EQ(in_words(shown.click(region_of(shown, kRow, s.config().n_head + 2))), "head 1 2");
  EXPECT_EQ(in_words(shown.click(region_of(shown, kCell), 2, 1)), "head 2 1");
}

TEST(HeadMetrics, TheMouseTellsAllOfThem) {
  const Scenario s(kTwice);
  const Shown shown("metrics", s, 1200, 900);
  const Table table = shown.table();
  const auto& row = table.rows[static_cast<std::size_t>(s.config().n_head)];  // L1 H0
  const auto lines = shown.tooltip(region_of(shown, kCell), 1, 0);
  EXPECT_EQ(lines.at(0), "L1 H0");
  for (std::size_t i = 2; i < row.size(); ++i)
    EXPECT_THAT(lines, Contains(HasSubstr(table.header[i] + " " + exact(std::stof(row[i])))));
}

TEST(HeadMetrics, SaysWhereThereIsNothingToMeasure) {
  const Scenario once("A robot must");
  EXPECT_THAT(texts(Shown("metrics", once, 900, 700, {{"metric", "duplicate"}}).scene()),
              Contains("no token of this prompt occurs twice"));
  const Scenario alone("A");
  EXPECT_THAT(texts(Shown("metrics", alone, 900, 700).scene()),
              Contains("one token has nothing but itself to look at"));
}

TEST(HeadMetrics, APartShowsWhatIsThere) {
  const Scenario s(kTwice);
  Thumbnails part = *s.ask(ThumbnailsOfHeads{});
  part.done = s.config().n_head + 1;
  OneAnswer some(ThumbnailsOfHeads{}, part, false);
  ViewContext c = s.context(1200, 900, light());
  c.answers = &some;
  const View& view = *find_view("metrics");
  const Picture picture = view.build(c);
  EXPECT_EQ(ids_of_role(picture, kRow).size(), static_cast<std::size_t>(part.done));
  EXPECT_THAT(texts(picture.scene), Contains(HasSubstr("computing… " + std::to_string(part.done) + " of ")));
  EXPECT_EQ(view.table(c).rows.size(), static_cast<std::size_t>(part.done));
}

}  // namespace
}  // namespace headscope::app
