// Views of prompt lists: search, examples of neurons and heads, head metrics, rows against the answers, and
// where clicks lead; means of tables over prompts, compared with plain float64 means.
#include <nlohmann/json.hpp>

#include "app/run/analyses/geometry.h"
#include "app/run/analyses/heads.h"
#include "app/run/analyses/search.h"
#include "app/run/analyses/token_pass.h"
#include "app/run/edits/edit_text.h"
#include "app/views/parts/list_means.h"
#include "app/views/parts/names.h"
#include "app/views/table_fold.h"
#include "model/files/error.h"
#include "tests/app/prompt_lists.h"
#include "tests/app/view_fixture.h"
#include "tests/support/sentences.h"

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
  const auto found = s.ask(WeightsOf{search});
  const Table table = shown.table();
  EXPECT_EQ(fact_of(table, "found"), found->count);
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
  const auto found = s.ask(WeightsOf{search});
  const std::vector<double> shares = numbers_of(shown.table(), "share");
  ASSERT_EQ(shares.size(), found->best.size());
  ASSERT_FALSE(shares.empty());
  EXPECT_EQ(shares[0], decimal(found->best[0].weight));
  EXPECT_GT(found->best[0].weight, 0.5F) << "the model has a head that looks at the token before";
}

TEST(QueryKeySpaceView, ShowsTheTokensOfAListAndLeadsToThem) {
  const Scenario s = kings();
  const ViewFixture shown("query_key_space", s, 900, 700, {{"text", "list"}});
  const auto space = s.ask(QueryKeySpaceOf{2, 1, {s.prompts, false}});
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
  const auto found = s.ask(ActivationsOf{{{2, 17}, {2, 30}}, {s.prompts, false}});
  ASSERT_FALSE(found->best.empty());
  const Table table = shown.table();
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
  const auto& post = s.ask(PassOfToken{7})->blocks[2].mlp_post;
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
    const Table table = table_of("metrics", s, options);
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

/// The mean and its standard error, in two passes over the numbers.
std::pair<double, double> mean_and_error(const std::vector<double>& numbers) {
  const auto n = static_cast<double>(numbers.size());
  double mean = 0, squares = 0;
  for (const double number : numbers) mean += number / n;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  return {mean, std::sqrt(squares / (n - 1) / n)};
}

const double kNan = std::nan("");

Table prompt(const std::vector<std::vector<double>>& rows) {
  Table table{key_column("layer"), note_column("token"), Column("loss", "bits")};
  table.ranked_by = "loss";
  for (const std::vector<double>& row : rows) add_row(table, row[0], std::to_string(row[1]), row[1]);
  return table;
}

TableFold fold_of(std::span<const Table> tables) {
  TableFold fold;
  for (const Table& table : tables) fold.add(TableFold(table, ""), "");
  return fold;
}

/// 20 prompts' tables with numbers around a mean that is much larger than their spread.
std::vector<Table> twenty() {
  std::mt19937 random(3);
  std::vector<Table> tables;
  for (int i = 0; i < 20; ++i) {
    const auto number = [&] { return 100 + std::ldexp(static_cast<double>(random()), -30); };
    tables.push_back(prompt({{0, number()}, {1, number()}}));
    tables.back().fact("value", number(), "bits");
  }
  return tables;
}

TEST(TableFold, HasTheMeanErrorAndCountOfEachNumber) {
  const std::vector<Table> tables = twenty();
  const Table means = fold_of(tables).means();
  EXPECT_THAT(headings(means), ElementsAre("layer", "loss mean", "loss standard error", "loss count"));
  EXPECT_EQ(means.ranked_by, "loss mean");
  for (std::size_t row = 0; row < 2; ++row) {
    std::vector<double> numbers;
    for (const Table& table : tables) numbers.push_back(numbers_of(table, "loss")[row]);
    const auto [mean, error] = mean_and_error(numbers);
    EXPECT_NEAR(numbers_of(means, "loss mean")[row], mean, 1e-9);
    EXPECT_NEAR(numbers_of(means, "loss standard error")[row], error, 1e-9);
    EXPECT_EQ(numbers_of(means, "loss count")[row], 20);
  }
  EXPECT_EQ(fact_of(means, "prompts"), 20);
  EXPECT_EQ(fact_of(means, "value count"), 20);
  EXPECT_TRUE(std::isnan(numbers_of(fold_of(std::span(tables).first(1)).means(), "loss standard error")[0]));
}

TEST(TableFold, MatchesRowsByTheirKeysWhateverTheirOrder) {
  const std::vector tables{prompt({{0, 1}, {1, 10}}), prompt({{1, 20}, {2, 5}, {0, kNan}})};
  const Table means = fold_of(tables).means();
  EXPECT_THAT(numbers_of(means, "layer"), ElementsAre(0, 1, 2));
  EXPECT_THAT(numbers_of(means, "loss mean"), ElementsAre(1, 15, 5));
  EXPECT_THAT(numbers_of(means, "loss count"), ElementsAre(1, 2, 1)) << "of prompts that have the number";
}

TEST(TableFold, KeepsWordsThatAllPromptsSay) {
  std::vector tables{prompt({{0, 1}}), prompt({{0, 2}})};
  for (Table& table : tables) table.fact("metric", "logit");
  tables[0].fact("token", "it");
  tables[1].fact("token", "that");
  const Table means = fold_of(tables).means();
  EXPECT_EQ(std::ranges::count(means.facts, "metric", &TableFact::name), 1);
  EXPECT_EQ(std::ranges::count(means.facts, "token", &TableFact::name), 0);
}

TEST(TableFold, RefusesTablesThatDoNotFitTogether) {
  const auto failure = [](const std::vector<Table>& tables) {
    return testing::message_of<std::runtime_error>([&] {
      TableFold fold;
      for (const Table& table : tables) fold.add(TableFold(table, "it: "), "it: ");
    });
  };
  Table other{key_column("layer"), "probability"};
  add_row(other, 0, 0.5);
  Table words{"name"};
  add_row(words, "x");
  EXPECT_THAT(failure({prompt({{0, 1}}), other}), StartsWith("it: its table has other columns"));
  EXPECT_THAT(failure({prompt({{0, 1}, {0, 2}})}), StartsWith("it: rows of its table have the same names"));
  EXPECT_THAT(failure({words}), StartsWith("it: its table has no numbers"));
}

const std::vector<std::string> kNames{"Fox", "Badger", "Wolf"};

/// Lines with a second prompt and two tokens each.
std::shared_ptr<const PromptList> pairs() {
  PromptList list{"pairs.jsonl", {}};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const std::string &here = kNames[i], &there = kNames[(i + 1) % kNames.size()];
    ListedPrompt& line = list.prompts.emplace_back();
    line.text = testing::king_gave_to(here);
    line.second = testing::king_gave_to(there);
    line.token = {TokenRef::By::text, " " + there, 0};
    line.other_token = {TokenRef::By::text, " " + here, 0};
  }
  return std::make_shared<const PromptList>(std::move(list));
}

Scenario with_list(std::shared_ptr<const PromptList> list = pairs()) {
  Scenario s("A robot must obey");
  s.prompts = std::move(list);
  return s;
}

/// The answer with these options, by its question.
std::shared_ptr<const FoldOverPrompts> means(const Scenario& s, const char* view,
                                             const NamedOptions& options = {}) {
  ViewContext c = s.context(1000, 700);
  for (const auto& [name, value] : options) set(c, name, value);
  return s.ask(means_of(*find_view(view), c));
}

/// The means of the tables that a view has of each prompt alone.
Table by_hand(const View& view, const MeansOfView& question) {
  TableFold fold;
  for (const ListedPrompt& line : question.over.list->prompts) {
    Scenario one{line};
    if (view.with_second.option != nullptr || view.on_baseline != nullptr)
      one.compare(Prompt{*line.second, {}, false});
    ViewContext c = one.context(1000, 700);
    c.options = question.options;
    c.selection = question.selection;
    measure_as(line, view, c.options, c.selection);
    c.chosen_query = c.selection.query;
    c.selection = clamped(c.selection, *one.run);
    fold.add(TableFold(view.table(c), ""), "");
  }
  return fold.means();
}

TEST(ListMeans, AreThoseOfEachPromptForEveryView) {
  const Scenario s = with_list();
  int count = 0;
  for (const View& view : views()) {
    if (!can_show_means(view)) continue;
    SCOPED_TRACE(view.id);
    ++count;
    const MeansOfView question = means_of(view, s.context(1000, 700));
    const auto found = s.ask(question);
    EXPECT_EQ(found->progress.skipped, 0U) << found->progress.problem;
    EXPECT_EQ(found->fold.prompts(), 3);
    EXPECT_EQ(table_json(found->fold.means()), table_json(by_hand(view, question)));
  }
  EXPECT_GT(count, 10);
}

TEST(ListMeans, SkipAndCountPromptsThatCannotBeMeasured) {
  PromptList list = *pairs();
  list.prompts.insert(list.prompts.begin() + 1, ListedPrompt{{.text = "The king", .ids = {}}});
  list.prompts.push_back({{.text = testing::king_gave_to("Fox"), .ids = {}}, "too short"});
  list.prompts.push_back({{.text = testing::king_gave_to("Fox"), .ids = {}}});
  list.prompts.back().second = testing::king_gave_to("Wolf");
  list.prompts.back().position = 500;
  const Scenario s = with_list(std::make_shared<const PromptList>(list));
  const auto found = means(s, "sweep", {{"sweep-change", "patch"}});
  EXPECT_EQ(found->fold.prompts(), 3);
  EXPECT_EQ(found->progress.skipped, 3U);
  EXPECT_EQ(found->progress.problem, "prompt 2: it has no second prompt to patch from");
}

TEST(ListMeans, AreListed) {
  const Scenario s = with_list();
  const ViewFixture shown("attribution", s, 1400, 3000, {{"over-list", "yes"}});
  const Table table = shown.table();
  EXPECT_EQ(table_json(table), table_json(means(s, "attribution")->fold.means()));
  const std::vector<double> layers = numbers_of(table, "layer"), heads = numbers_of(table, "head");
  const auto rows = shown.all_of(1000);
  ASSERT_EQ(rows.size(), table.rows());
  for (const int region : rows) {
    const auto row = static_cast<std::size_t>(shown.region(region).id);
    if (!std::isnan(heads[row])) {
      EXPECT_EQ(in_words(shown.click(region)),
                in_words({SelectHead{static_cast<int>(layers[row]), static_cast<int>(heads[row])}}));
    }
  }
}

TEST(ListMeans, OfTheLensAreAfterTheQueryUnlessAllPositionsAreChosen) {
  const Scenario s = with_list();
  const auto has_positions = [&](const char* at) {
    const ViewFixture shown("lens", s, 1000, 700, {{"over-list", "yes"}, {"lens-at", at}});
    return shown.table().columns.front().name == "position";
  };
  EXPECT_FALSE(has_positions("auto"));
  EXPECT_TRUE(has_positions("all"));
}

TEST(ListMeans, StopAndGoOn) {
  const Scenario s = with_list();
  const MeansOfView question = means_of(*find_view("lens"), s.context(1000, 700));
  model::Workspace workspace(1);
  MeansOfView of_first = question;
  of_first.over.list =
      std::make_shared<const PromptList>(PromptList{"one", {question.over.list->prompts[0]}});
  const FoldOverPrompts part = *s.ask(of_first);
  const FoldOverPrompts rest = question.compute(*s.run, {workspace, {}, &part});
  EXPECT_EQ(table_json(rest.fold.means()), table_json(s.ask(question)->fold.means()));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(question.compute(*s.run, {workspace, stop.get_token()}), model::Stopped);
}

}  // namespace
}  // namespace headscope::app::search_test
