// Metrics of heads: computed by hand for a small pattern, compared with the reference for the bundled model,
// and read from the picture.

#include "app/run/analyses/heads.h"
#include "app/run/edits/edit_text.h"
#include "app/views/parts/names.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::head_metrics_test {
namespace {

constexpr int kRow = 1;
constexpr const char* kTwice = "one two three one two three one two";

TEST(HeadMetrics, OfTheTableAreTheAnswersForEveryHead) {
  const Scenario s(kTwice);
  const Table table = ViewFixture("metrics", s, 900, 700).table();
  const auto answer = s.ask(ThumbnailsOfHeads{});
  ASSERT_EQ(table.rows(), answer->of_head.size());
  for (const HeadMetric metric : {HeadMetric::first, HeadMetric::induction, HeadMetric::sink}) {
    const std::vector<double> numbers = numbers_of(table, kind_of(metric).name);
    for (std::size_t head = 0; head < numbers.size(); ++head)
      EXPECT_EQ(numbers[head], decimal(static_cast<float>(answer->of_head[head]->metrics[metric])));
  }
}

TEST(HeadMetrics, ADifferenceListsDecreasesByTheirSizeToo) {
  const Scenario s = edited("L0H0.z=0", {2, 1, -1}, kTwice);
  const ViewFixture shown("metrics", on(Side::difference, "metrics", s, 900, 500));
  const auto rows = text_rows(shown.table());
  std::vector<double> sizes;
  int falls = 0;
  for (const int id : ids_of_role(shown.picture(), kRow)) {
    const auto& row = rows.at(static_cast<std::size_t>(id));
    EXPECT_THAT(in_words(shown.click(shown.find(kRow, id))), StartsWith("head " + row[0] + " " + row[1]));
    const double value = std::stod(row[2]);
    sizes.push_back(std::abs(value));
    falls += value < 0;
  }
  ASSERT_LT(sizes.size(), rows.size()) << "not all have room";
  EXPECT_TRUE(std::ranges::is_sorted(sizes, std::greater{}));
  EXPECT_GT(falls, 0);
  EXPECT_LT(falls, std::ssize(sizes));
}

TEST(HeadMetrics, OnRepeatedTokensAreTheModelsWhateverThePrompt) {
  const NamedOptions repeated{{"metrics-text", "repeated"}, {"metric", "induction"}};
  const Scenario s("A robot must"), other(kTwice);
  const ViewFixture shown("metrics", s, 1200, 900, repeated);
  const auto answer = s.ask(MetricsOnRepeated{});
  const Table table = shown.table();
  EXPECT_EQ(text_rows(table), text_rows(ViewFixture("metrics", other, 1200, 900, repeated).table()));
  const std::vector<double> induction = numbers_of(table, "induction");
  ASSERT_EQ(induction.size(), answer->heads.size());
  for (std::size_t i = 0; i < induction.size(); ++i)
    EXPECT_EQ(induction[i], decimal(static_cast<float>(answer->heads[i][HeadMetric::induction])));
  NamedOptions chosen = repeated;
  chosen.insert(chosen.end(),
                {{"repeated-sequences", "2"}, {"repeated-length", "9"}, {"repeated-seed", "5"}});
  const auto of_chosen = s.ask(MetricsOnRepeated{{9, 2, 5}});
  EXPECT_EQ(numbers_of(ViewFixture("metrics", s, 1200, 900, chosen).table(), "induction")[3],
            decimal(static_cast<float>(of_chosen->heads[3][HeadMetric::induction])));
}

TEST(HeadMetrics, SayOverHowManyQueriesTheyAreMeans) {
  const auto queries = [](const std::vector<int>& tokens, HeadMetric metric) {
    HeadMetrics metrics;
    for (int query = 1; query < std::ssize(tokens); ++query)
      metrics.add(query, std::vector<float>(static_cast<std::size_t>(query) + 1, 0.25F),
                  earlier_occurrences(tokens));
    return metrics.values().queries[static_cast<std::size_t>(metric)];
  };
  const std::vector<int> tokens{7, 8, 7, 7};
  EXPECT_EQ(queries(tokens, HeadMetric::first), 3);
  EXPECT_EQ(queries(tokens, HeadMetric::duplicate), 2);
  EXPECT_EQ(queries(tokens, HeadMetric::induction), 2) << "after the 7 at 0, for both";
  EXPECT_EQ(queries({7, 7}, HeadMetric::induction), 0);
}

TEST(HeadMetrics, SayWhichQueriesAreLeftOut) {
  const Scenario s = with_edits("L0H1.scores[2,0-2]=null", {0, 1, 3}, kTwice);
  const ViewFixture shown("metrics", s, 1200, 900);
  EXPECT_NE(shown.page().take_starting("left out: 0 to 1 query"), "");
  EXPECT_EQ(numbers_of(shown.table(), "queries left out").at(1), 1);
}

}  // namespace
}  // namespace headscope::app::head_metrics_test
