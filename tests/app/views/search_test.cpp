// Views of prompt lists: search, examples of neurons and heads, head metrics; rows against the answers, and
// where clicks lead.
#include "app/run/analyses/search.h"
#include "app/run/analyses/geometry.h"
#include "app/run/analyses/heads.h"
#include "app/run/analyses/token_pass.h"
#include "app/run/edits/edit_text.h"
#include "app/views/parts/names.h"
#include "tests/app/prompt_lists.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::search_test {
namespace {

/// A prompt in which words come twice, and a list of two prompts with the same words.
Scenario kings() {
  Scenario s("The king and the queen and the king", {2, 1, 7, 1});
  s.prompts = testing::two_kings();
  return s;
}

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
    const auto& f = found->best[i];
    EXPECT_THAT(rows[i], ElementsAre(plain(f.weight), std::to_string(f.layer), std::to_string(f.head),
                                     std::to_string(f.query), "·king", std::to_string(f.key), "·king",
                                     std::to_string(f.query_id), std::to_string(f.key_id), f.excerpt.text()));
  }
  const FoundWeight& first = found->best.front();
  EXPECT_EQ(in_words(shown.click(0)), "head " + std::to_string(first.layer) + " " +
                                          std::to_string(first.head) + ", query " +
                                          std::to_string(first.query) + ", key " + std::to_string(first.key));
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

TEST(TopExamplesView, OfANeuronListTheLargestActivationsOfTheList) {
  const Scenario s = kings();
  const ViewFixture shown("top_examples", s, 1200, 700, {{"text", "list"}, {"example-neurons", "17,30"}});
  const auto found = s.ask(ActivationsOverList{{s.prompts, false}, {{2, 17}, {2, 30}}});
  ASSERT_FALSE(found->best.empty());
  const Table table = shown.table();
  EXPECT_THAT(headings(table),
              ElementsAre("neuron", "activation", "prompt", "position", "token", "token id", "context"));
  EXPECT_EQ(fact_of(table, "found"), found->count);
  const auto rows = text_rows(table);
  ASSERT_EQ(rows.size(), found->best.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const FoundActivation& f = found->best[i];
    EXPECT_THAT(rows[i], ElementsAre(std::to_string(f.neuron), plain(f.activation), std::to_string(f.prompt),
                                     std::to_string(f.position), label_of(shown.context(), f.id),
                                     std::to_string(f.id), ::testing::_))
        << i;
  }
  const FoundActivation& first = found->best.front();
  const std::string& prompt = s.prompts->prompts[static_cast<std::size_t>(first.prompt) - 1].text;
  EXPECT_EQ(in_words(shown.click(shown.find(0, 0))),
            "prompt “" + prompt + "” 2 1 " + std::to_string(first.position) + " -1");
}

/// The default neuron is the most active one at the token; a click keeps it.
TEST(TopExamplesView, ByDefaultAreOfTheMostActiveNeuron) {
  const Scenario s = kings();
  const ViewFixture shown("top_examples", s, 1200, 700);
  const auto& post = s.ask(PassOfToken{7})->blocks[2]->mlp_post;
  const auto most = std::to_string(std::ranges::max_element(post) - post.begin());
  EXPECT_THAT(texts(shown.scene()), Contains("Largest activations of L2 neuron " + most));
  EXPECT_THAT(in_words(shown.click(shown.find(0, 0))), EndsWith(", example-neurons " + most));
  EXPECT_EQ(shown.choose("Turn off neuron " + most, shown.find(0, 0)).size(), 1U);
}

constexpr const char* kTwice = "one two three one two three one two";

TEST(HeadMetrics, OfTheTableAreTheAnswersForEveryHead) {
  const Scenario s = kings();
  using Heads = std::vector<HeadMetrics>;
  const auto thumbnails = s.ask(ThumbnailsOfHeads{});
  Heads of_prompt;
  for (const auto& head : thumbnails->of_head) of_prompt.push_back(head->metrics);
  for (const auto& [options, heads] :
       {std::pair<NamedOptions, Heads>{{}, of_prompt},
        {{{"metrics-text", "list"}}, s.ask(MetricsOnList{{s.prompts, false}})->heads},
        {{{"metrics-text", "repeated"}}, s.ask(MetricsOnRepeated{})->heads},
        {{{"metrics-text", "repeated"},
          {"repeated-sequences", "2"},
          {"repeated-length", "9"},
          {"repeated-seed", "5"}},
         s.ask(MetricsOnRepeated{{9, 2, 5}})->heads}}) {
    SCOPED_TRACE(options.size());
    const Table table = ViewFixture("metrics", s, 900, 700, options).table();
    ASSERT_EQ(table.rows(), heads.size());
    for (const HeadMetric metric : {HeadMetric::first, HeadMetric::induction, HeadMetric::sink}) {
      const std::vector<double> numbers = numbers_of(table, kind_of(metric).name);
      for (std::size_t head = 0; head < numbers.size(); ++head)
        EXPECT_EQ(numbers[head], decimal(static_cast<float>(heads[head][metric])));
    }
  }
}

TEST(HeadMetrics, SayWhichQueriesAreLeftOut) {
  const Scenario s = with_edits("L0H1.scores[2,0-2]=null", {0, 1, 3}, kTwice);
  const ViewFixture shown("metrics", s, 1200, 900);
  EXPECT_NE(shown.page().take_starting("left out: 0 to 1 query"), "");
  EXPECT_EQ(numbers_of(shown.table(), "queries left out").at(1), 1);
}

}  // namespace
}  // namespace headscope::app::search_test
