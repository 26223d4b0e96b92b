// Search, and the other views of prompt lists: their contents, and where clicks lead.

#include "app/run/analyses/search.h"
#include "app/run/analyses/geometry.h"
#include "app/run/analyses/heads.h"
#include "app/views/parts/names.h"
#include "tests/app/kings.h"

namespace headscope::app::search_test {
namespace {

TEST(SearchView, ListsTheWeightsBetweenSuchTokens) {
  const Scenario s = kings();
  const ViewFixture shown("search", s, 1200, 700, {{"search-above", "0"}});
  WeightSearch search;
  search.from = search.to = {TokenSelector::Kind::text, "king", 0};
  const auto found = s.ask(WeightsOfRun{search});
  const Table table = shown.table();
  EXPECT_EQ(fact_of(table, "found"), found->count);
  EXPECT_THAT(headings(table), ElementsAre("weight", "layer", "head", "query", "query token", "key",
                                           "key token", "query id", "key id", "context"));
  const auto rows = text_rows(table);
  ASSERT_EQ(rows.size(), found->best.size());
  ASSERT_GT(rows.size(), 1U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const FoundWeight& f = found->best[i];
    EXPECT_THAT(rows[i],
                ElementsAre(plain(f.weight), std::to_string(f.layer), std::to_string(f.head),
                            std::to_string(f.query), "·king", std::to_string(f.key), "·king",
                            std::to_string(f.query_id), std::to_string(f.key_id), found->excerpts[i].text()));
  }
  const FoundWeight& first = found->best.front();
  EXPECT_EQ(in_words(shown.click(0)),
            "head " + std::to_string(first.layer) + " " + std::to_string(first.head) + ", query " +
                std::to_string(first.query) + ", key " + std::to_string(first.key) + ", chosen-found 0");
}

TEST(SearchView, OfAListAClickShowsThePromptAndThePlaceInIt) {
  const Scenario s = kings();
  const ViewFixture tall("search", s, 1200, 9000,
                         {{"text", "list"}, {"search-above", "0"}, {"search-to", "any"}});
  const auto rows = text_rows(tall.table());
  const auto of_second = std::ranges::find(rows, "2", [](const auto& row) { return row[1]; });
  ASSERT_NE(of_second, rows.end()) << "“ king” is in the second, too";
  const auto index = static_cast<int>(of_second - rows.begin());
  int region = -1;
  for (std::size_t i = 0; i < tall.picture().regions.size(); ++i)
    if (tall.picture().regions[i].id == index) region = static_cast<int>(i);
  ASSERT_GE(region, 0);
  const auto& row = *of_second;
  EXPECT_EQ(in_words(tall.click(region)), "prompt “A king is no queen” " + row[2] + " " + row[3] + " " +
                                              row[4] + " " + row[6] + ", chosen-found " +
                                              std::to_string(index));
}

TEST(SearchView, FindsTheMarkedShape) {
  const Scenario s = kings();
  const ViewFixture none("search", s, 1200, 700, {{"search-for", "shape"}});
  EXPECT_THAT(texts(none.scene()), Contains(HasSubstr("no shape is marked")));
  const ViewFixture shown("search", s, 1200, 700, {{"search-for", "shape"}, {"shape-cells", "3.2,4.3,5.4"}});
  WeightSearch search;
  search.shape = {{3, 2}, {4, 3}, {5, 4}};
  search.above = 0.3;
  const auto found = s.ask(WeightsOfRun{search});
  const std::vector<double> shares = numbers_of(shown.table(), "share");
  ASSERT_EQ(shares.size(), found->best.size());
  ASSERT_FALSE(shares.empty());
  EXPECT_EQ(shares[0], decimal(found->best[0].weight));
  EXPECT_GT(found->best[0].weight, 0.5F) << "the model has a head that looks at the token before";
}

TEST(HeadMetricsView, CanBeMeasuredOnAList) {
  const Scenario s = kings();
  const ViewFixture shown("metrics", s, 1200, 700, {{"metrics-text", "list"}, {"metric", "previous"}});
  const auto metrics = s.ask(MetricsOnList{{s.prompts, false}});
  const Table table = shown.table();
  EXPECT_EQ(fact_of(table, "prompts"), 2);
  const std::vector<double> previous = numbers_of(table, "previous");
  ASSERT_EQ(previous.size(), metrics->heads.size());
  for (std::size_t i = 0; i < previous.size(); ++i)
    EXPECT_EQ(previous[i], decimal(static_cast<float>(metrics->heads[i][HeadMetric::previous])));
}

TEST(QueryKeySpaceView, ShowsTheTokensOfAListAndLeadsToThem) {
  const Scenario s = kings();
  const ViewFixture shown("query_key_space", s, 900, 700, {{"text", "list"}});
  const auto space = s.ask(QueryKeySpaceOverList{{s.prompts, false}, 2, 1});
  const auto rows = text_rows(shown.table());
  ASSERT_EQ(rows.size(), 2 * space->places.size());
  EXPECT_EQ(rows[8][0], "2") << "behind the eight tokens of the first";
  EXPECT_EQ(rows[8][3], "A");
  const viz::Region& frame = shown.region(0);
  const std::string clicked = in_words(shown.click(0, frame.row_count / 2, frame.col_count / 2));
  EXPECT_THAT(clicked, StartsWith("prompt “"));
}

}  // namespace
}  // namespace headscope::app::search_test
