// Metrics of heads: computed by hand for a small pattern, compared with the reference for the bundled model,
// and read from the picture.

#include "app/run/analyses/thumbnails.h"
#include "app/run/edits/edit_text.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::head_metrics_test {
namespace {

constexpr int kCell = 0, kRow = 1;
constexpr const char* kTwice = "one two three one two three one two";

TEST(HeadMetrics, AreTheReferencesForEveryHead) {
  const Scenario s(kTwice);
  const Table table = ViewFixture("metrics", s, 900, 700).table();
  ASSERT_THAT(table.header, ElementsAre("layer", "head", "first", "previous", "itself", "induction",
                                        "duplicate", "entropy", "distance", "sink"));
  const std::vector<int>& tokens = s.run->run->tokens;
  const int n = s.length();
  ASSERT_EQ(table.rows.size(), static_cast<std::size_t>(s.config().n_layer * s.config().n_head));
  for (const auto& row : table.rows) {
    SCOPED_TRACE("L" + row[0] + " H" + row[1]);
    const auto& w = reference_head(s, std::stoi(row[0]), std::stoi(row[1])).weights;
    double first = 0, previous = 0, self = 0, induction = 0, duplicate = 0, entropy = 0, distance = 0;
    int sink = 0;
    int induce = 0, repeat = 0;
    for (int q = 1; q < n; ++q) {
      const auto& weights = w[q];
      sink += weights[0] > 0.5;
      first += weights[0], previous += weights[q - 1];
      self += weights[q];
      bool induces = false, repeats = false;
      for (int k = 0; k <= q; ++k) {
        const double v = weights[k];
        entropy -= v > 0 ? v * std::log2(v) : 0;
        distance += v * (q - k);
        if (k < q && tokens[k] == tokens[q]) repeats = true, duplicate += v;
        if (k > 0 && k < q && tokens[k - 1] == tokens[q]) induces = true, induction += v;
      }
      induce += induces, repeat += repeats;
    }
    ASSERT_GT(induce, 0);
    const double queries = n - 1;
    const std::vector<double> expected{first / queries,    previous / queries, self / queries,
                                       induction / induce, duplicate / repeat, entropy / queries,
                                       distance / queries, sink / queries};
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(std::stod(row[2 + i]), expected[i], 1e-4) << table.header[2 + i];
  }
}

TEST(HeadMetrics, TheListIsSortedAndLeadsToItsHeads) {
  const Scenario s(kTwice);
  for (const char* metric :
       {"first", "previous", "self", "induction", "duplicate", "entropy", "distance", "sink"}) {
    SCOPED_TRACE(metric);
    for (const bool least : {false, true}) {
      const ViewFixture shown("metrics", s, 1200, 1500,
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
  const ViewFixture shown("metrics", s, 1200, 1500);
  EXPECT_EQ(in_words(shown.click(shown.find(kRow, s.config().n_head + 2))), "head 1 2");
  EXPECT_EQ(in_words(shown.click(shown.find(kCell, 0), 2, 1)), "head 2 1");
}

TEST(HeadMetrics, ADifferenceListsDecreasesByTheirSizeToo) {
  const Scenario s = edited("L0H0.z=0", {2, 1, -1}, kTwice);
  for (const bool least : {false, true}) {
    const ViewFixture shown("metrics", on(Side::difference, "metrics", s, 900, 500),
                            {{"least-first", least ? "yes" : "no"}});
    const Table table = shown.table();
    std::vector<double> sizes;
    int falls = 0;
    for (const int id : ids_of_role(shown.picture(), kRow)) {
      const double value = std::stod(table.rows.at(static_cast<std::size_t>(id))[2]);
      sizes.push_back(std::abs(value));
      falls += value < 0;
    }
    ASSERT_LT(sizes.size(), table.rows.size()) << "not all have room";
    EXPECT_TRUE(least ? std::ranges::is_sorted(sizes) : std::ranges::is_sorted(sizes, std::greater{}));
    if (!least) {
      EXPECT_GT(falls, 0);
      EXPECT_LT(falls, std::ssize(sizes));
    }
  }
}

// Slanted labels reach beyond the map; the last one has room, too.
TEST(HeadMetrics, NarrowMapsNameTheLastHeadIfTheyNameAll) {
  Scenario s = edited("L1H6.z=0", {1, 6, -1}, kTwice);
  int named = 0;
  for (float width = 380; width < 800; width += 10) {
    for (const float height : {300.F, 360.F, 450.F}) {
      ViewContext c = on(Side::difference, "metrics", s, width, height);
      c.in_pane = true;
      const auto words = texts(find_view("metrics")->build(c).scene);
      if (std::ranges::find(words, "H1") == words.end()) continue;
      EXPECT_THAT(words, Contains("H7")) << width << " " << height;
      ++named;
    }
  }
  EXPECT_GT(named, 20);
}

// Where several metrics of a head stand together.
TEST(HeadMetrics, SaysWhyTheyCanAddUpToMoreThanOne) {
  const auto says = [](const ViewFixture& shown) {
    std::string all;
    for (const std::string& text : texts(shown.scene())) all += text + " ";
    return all.find("can add up to more than 1") != std::string::npos;
  };
  EXPECT_TRUE(says(ViewFixture("metrics", Scenario(kTwice), 1200, 700)));
  EXPECT_FALSE(says(ViewFixture("metrics", Scenario(kTwice), 480, 350))) << "one metric";
}

TEST(HeadMetrics, TheMouseTellsAllOfThem) {
  const Scenario s(kTwice);
  const ViewFixture shown("metrics", s, 1200, 900);
  const Table table = shown.table();
  const auto& row = table.rows[s.config().n_head];  // L1 H0
  const auto lines = shown.tooltip(shown.find(kCell, 0), 1, 0);
  EXPECT_EQ(lines.at(0), "L1 H0");
  for (std::size_t i = 2; i < row.size(); ++i)
    EXPECT_THAT(lines, Contains(HasSubstr(table.header[i] + " " + exact(std::stof(row[i])))));
}

TEST(HeadMetrics, SaysWhereThereIsNothingToMeasure) {
  const Scenario once("A robot must");
  EXPECT_THAT(texts(ViewFixture("metrics", once, 900, 700, {{"metric", "duplicate"}}).scene()),
              Contains("no token of this prompt occurs twice"));
  const Scenario alone("A");
  EXPECT_THAT(texts(ViewFixture("metrics", alone, 900, 700).scene()),
              Contains("a single token can only attend to itself"));
}

TEST(HeadMetrics, APartShowsWhatIsThere) {
  const Scenario s(kTwice);
  Thumbnails part = *s.ask(ThumbnailsOfHeads{});
  part.done = s.config().n_head + 1;
  OneAnswer some(ThumbnailsOfHeads{}, part, false);
  const ViewFixture shown("metrics", s.context(1200, 900, some));
  EXPECT_EQ(std::ssize(ids_of_role(shown.picture(), kRow)), part.done);
  EXPECT_THAT(texts(shown.scene()), Contains(HasSubstr("computing… " + std::to_string(part.done) + " of ")));
  EXPECT_EQ(std::ssize(shown.table().rows), part.done);
}

TEST(HeadMetrics, OnRepeatedTokensAreTheModelsWhateverThePrompt) {
  const NamedOptions repeated{{"metrics-text", "repeated"}, {"metric", "induction"}};
  const Scenario s("A robot must"), other(kTwice);
  const ViewFixture shown("metrics", s, 1200, 900, repeated);
  const auto answer = s.ask(MetricsOnRepeated{RepeatedTokens::default_for(s.config().n_ctx)});
  const Table table = shown.table();
  EXPECT_EQ(table.rows, ViewFixture("metrics", other, 1200, 900, repeated).table().rows);
  ASSERT_EQ(table.rows.size(), answer->heads.size());
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    EXPECT_EQ(std::stof(table.rows[i][5]), static_cast<float>(answer->heads[i][HeadMetric::induction]));
    EXPECT_EQ(std::stof(table.rows[i][9]), static_cast<float>(answer->heads[i][HeadMetric::sink]));
  }
  EXPECT_THAT(texts(shown.scene()), Contains(HasSubstr("8 × 50 random tokens, repeated once")));
  // The first head of the list has the highest number.
  const auto best = std::ranges::max_element(
      answer->heads, {}, [](const HeadMetricValues& head) { return head[HeadMetric::induction]; });
  EXPECT_EQ(ids_of_role(shown.picture(), kRow).at(0), best - answer->heads.begin());
}

TEST(HeadMetrics, TheCaptionOfRepeatedTokensNamesNoPrompt) {
  const Scenario s("A robot must");
  const View& view = *find_view("metrics");
  ViewContext c = s.context(900, 700);
  EXPECT_THAT(caption(view, c), HasSubstr("A robot must"));
  set(c, "metrics-text", "repeated");
  EXPECT_EQ(caption(view, c), "tales · on random tokens repeated once");
  set(c, "metrics-text", "list");
  EXPECT_EQ(caption(view, c), "tales · on the prompts of “two.txt”");
  for (const char* id : {"plane", "search"})
    EXPECT_THAT(caption(*find_view(id), c), Not(HasSubstr("prompts of"))) << "this one is of the prompt";
}

TEST(HeadMetrics, ListThoseAboveALeastNumber) {
  const Scenario s(kTwice);
  const Table all = ViewFixture("metrics", s, 1200, 900, {{"metric", "first"}}).table();
  std::vector<std::string> numbers;
  for (const auto& row : all.rows) numbers.push_back(row[2]);
  std::ranges::sort(numbers, {}, [](const std::string& number) { return std::stof(number); });
  const std::string least = numbers[numbers.size() / 2];  // the number of a listed head
  const ViewFixture shown("metrics", s, 1200, 900, {{"metric", "first"}, {"metric-least", least}});
  const Table table = shown.table();
  const auto above = std::ranges::count_if(
      numbers, [&](const std::string& number) { return std::stof(number) >= std::stof(least); });
  EXPECT_EQ(table.rows, all.rows) << "numbers are of all heads";
  EXPECT_THAT(texts(shown.scene()), Contains(HasSubstr(std::to_string(above) + " of 48 heads at least 0.")));
  // A row belongs to the head that it names, in any order.
  const std::vector<int> rows = ids_of_role(shown.picture(), kRow);
  ASSERT_EQ(std::ssize(rows), above);
  const auto& best =
      *std::ranges::max_element(table.rows, {}, [](const auto& row) { return std::stof(row[2]); });
  EXPECT_EQ(shown.tooltip(shown.find(kRow, rows[0])).at(0), "L" + best[0] + " H" + best[1]);
  const auto actions = shown.click(shown.find(kRow, rows[0]));
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(std::get<SelectHead>(actions[0]).layer, std::stoi(best[0]));
  EXPECT_EQ(std::get<SelectHead>(actions[0]).head, std::stoi(best[1]));
  EXPECT_THAT(
      texts(ViewFixture("metrics", s, 1200, 900, {{"metric", "first"}, {"metric-least", "5"}}).scene()),
      Contains("0 of 48 heads at least 5"));
}

TEST(HeadMetrics, SomeOfTheSequencesAreShownAsSome) {
  const Scenario s(kTwice);
  const RepeatedTokens wanted = RepeatedTokens::default_for(s.config().n_ctx);
  RepeatedTokens fewer = wanted;
  fewer.sequences = 3;
  OneAnswer some(MetricsOnRepeated{wanted}, *s.ask(MetricsOnRepeated{fewer}), false);
  const ViewFixture shown("metrics", s.context(1200, 900, some), {{"metrics-text", "repeated"}});
  EXPECT_THAT(texts(shown.scene()), Contains("computing… 3 of 8 sequences"));
}

}  // namespace
TEST(HeadMetrics, SayOverHowManyQueriesTheyAreMeans) {
  // Positions of the last occurrence before, as in "a b a a".
  const std::vector<int> earlier{-1, -1, 0, 2};
  EXPECT_EQ(counted_queries(kind_of(HeadMetric::first), earlier), 3);
  EXPECT_EQ(counted_queries(kind_of(HeadMetric::duplicate), earlier), 2);
  EXPECT_EQ(counted_queries(kind_of(HeadMetric::induction), earlier), 2) << "after the a at 0, for both";
  const std::vector<int> twice{-1, 0};
  EXPECT_EQ(counted_queries(kind_of(HeadMetric::induction), twice), 0) << "nothing is between the two";
  EXPECT_EQ(counted_queries(kind_of(HeadMetric::first), std::vector<int>{-1}), 0);
  const Scenario s(kTwice);
  int again = 0;
  for (const int at : earlier_occurrences(s.run->run->tokens)) again += at >= 0 ? 1 : 0;
  const std::vector<std::string> shown =
      texts(ViewFixture("metrics", s, 1200, 900, {{"metric", "duplicate"}}).scene());
  EXPECT_THAT(shown, Contains("mean weight on earlier occurrences of the query's token: " +
                              std::to_string(again) + " queries"));
}

TEST(HeadMetrics, ListsSayWhichHeadsAreOff) {
  const Scenario s(Prompt{kTwice, {}, false, parse_edits("L1H2.z=0; L3H4.z*=0.5", *bundled())});
  const std::vector<std::string> shown = texts(ViewFixture("metrics", s, 1200, 2400).scene());
  EXPECT_THAT(shown, Contains("L1 H2 off"));
  EXPECT_THAT(shown, Contains("L3 H4 × 0.5"));
  EXPECT_THAT(shown, Contains("L1 H3"));
}

}  // namespace headscope::app::head_metrics_test
