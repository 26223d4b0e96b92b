// Lists of prompts: reading them, and answers about a list compared with each prompt alone; the largest
// activations of neurons, against the reference's in double precision.
#include <algorithm>

#include "app/run/analyses/geometry.h"
#include "app/run/analyses/heads.h"
#include "app/run/analyses/patterns.h"
#include "app/run/analyses/search.h"
#include "app/run/analyses/token_pass.h"
#include "app/run/prompt_list.h"
#include "model/files/error.h"
#include "tests/app/prompt_lists.h"
#include "tests/app/view_fixture.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::prompt_list_test {
namespace {

std::string problem_of(const std::filesystem::path& file) {
  return message_of<model::LoadError>([&] { static_cast<void>(read_prompt_list(file)); });
}

TEST(PromptList, LinesOfJsonAndOfText) {
  const TemporaryFolder folder;
  const PromptList lines =
      read_prompt_list(folder.write("a.jsonl", "\"The king\"\n\n {\"ids\": [1, 2]}\n{\"prompt\": \"\\\"\"}"));
  EXPECT_EQ(lines.name, "a.jsonl");
  ASSERT_EQ(lines.prompts.size(), 3U);
  EXPECT_EQ(lines.prompts[0].text, "The king");
  EXPECT_EQ(lines.prompts[1].ids, (std::vector<int>{1, 2}));
  EXPECT_EQ(lines.prompts[2].text, "\"");
  EXPECT_EQ(read_prompt_list(folder.write("c.txt", "\xef\xbb\xbfThe king\n")).prompts[0].text, "The king");
  const PromptList text = read_prompt_list(folder.write("b.txt", "\"The king\" said \r\n  \n{1}\n\xff"));
  ASSERT_EQ(text.prompts.size(), 3U);
  EXPECT_EQ(text.prompts[0].text, "\"The king\" said ");
  EXPECT_EQ(text.prompts[1].text, "{1}");
  EXPECT_EQ(text.prompts[2].text, "\xff");
}

TEST(PromptList, WhatIsNoneIsSaid) {
  const TemporaryFolder folder;
  EXPECT_THAT(problem_of(folder.write("a.jsonl", "\"x\"\n\nking\n")),
              AllOf(HasSubstr("a.jsonl:3"), HasSubstr("JSON string")));
  EXPECT_THAT(problem_of(folder.write("s.jsonl", "\"x\"\n\"\xc3\xa9\\ud83d\"\n")),
              AllOf(HasSubstr("s.jsonl:2: "), HasSubstr("half of a surrogate pair"), HasSubstr("column 9")));
  EXPECT_THAT(problem_of(folder.write("b.txt", " \n\n")),
              EndsWith("there is no prompt in " + (folder.path() / "b.txt").string()));
  EXPECT_THAT(problem_of(folder.write("c.txt", std::string(PromptList::kMaxBytes + 1, 'x'))),
              HasSubstr("c.txt"));
  std::string many;
  for (std::size_t i = 0; i <= PromptList::kMaxPrompts; ++i) many += "x\n";
  EXPECT_THAT(problem_of(folder.write("d.txt", many)),
              AllOf(HasSubstr("expected at most 20000 prompts"), HasSubstr("one prompt after the other")));
  EXPECT_THAT(problem_of(folder.path() / "e.txt"), HasSubstr("e.txt"));
}

TEST(PromptList, AKeyThatIsWrittenAsAnOptionIsAProblemOnlyWhereItWouldBeMeasured) {
  for (const char* key : {"other-token", "otherToken", "Other token"}) {
    const ListedPrompt line =
        parse_prompt_line("{\"prompt\": \"x\", \"" + std::string(key) + "\": \" Fox\"}", "a.jsonl:3");
    EXPECT_EQ(line.text, "x");
    EXPECT_EQ(line.problem,
              "a.jsonl:3: expected the key \"other_token\", found \"" + std::string(key) + "\"");
    EXPECT_THROW(require_measurable(line), model::LoadError);
  }
  EXPECT_EQ(parse_prompt_line(R"({"prompt": "x", "tokens": [1], "source": "y"})", "a.jsonl:3").problem, "");
}

TEST(PromptList, LinesAreNumberedFromOneWithBlankOnes) {
  EXPECT_EQ(lines_with_prompts("\xef\xbb\xbf\n\"a\"\r\n \t\n\"b\"\n\"c\""), (std::vector<int>{2, 4, 5}));
  EXPECT_TRUE(lines_with_prompts("").empty());
}

OverPrompts over(const std::vector<Prompt>& prompts, bool start_token = false) {
  return {testing::list_of(prompts), start_token};
}

const std::vector<Prompt> kPrompts{{.text = "The king and the queen and the king", .ids = {}},
                                   {.text = "", .ids = {999999}},
                                   {.text = "Once there was a little girl", .ids = {}},
                                   {.text = "", .ids = {5, 9, 5, 9}},
                                   {.text = "The king and the queen", .ids = {}}};

/// Every prompt that can be run, by its number.
const std::vector<std::pair<int, Scenario>>& each() {
  static const std::vector<std::pair<int, Scenario>> all = [] {
    std::vector<std::pair<int, Scenario>> runs;
    for (const int i : {0, 2, 3, 4}) runs.emplace_back(i + 1, Scenario(kPrompts[i]));
    return runs;
  }();
  return all;
}

TEST(MetricsOnList, AreThoseOfItsPrompts) {
  const Scenario s("x");
  const auto answer = s.ask(MetricsOnList{over(kPrompts)});
  std::vector<HeadMetrics> sum(answer->heads.size());
  for (const auto& [number, one] : each())
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one.ask(MetricsOnList{})->heads[i];
  EXPECT_EQ(answer->heads, sum);
  EXPECT_EQ(answer->progress.done, kPrompts.size());
  EXPECT_EQ(answer->progress.skipped, 1U);
  EXPECT_THAT(answer->progress.problem, HasSubstr("999999"));
  // The result does not depend on the prompt that is run.
  EXPECT_EQ(Scenario("Another prompt").ask(MetricsOnList{over(kPrompts)})->heads, sum);
  const auto with_start = s.ask(MetricsOnList{over({{.text = "The king", .ids = {}}}, true)});
  EXPECT_EQ(with_start->heads, Scenario(Prompt{"The king", {}, true}).ask(MetricsOnList{})->heads);
}

TEST(WeightsOf, AreTheLargestOfAllPrompts) {
  const Scenario s("x");
  WeightSearch search;
  search.from = {TokenSelector::Kind::text, "king", 0};
  search.above = 0.05;
  const auto found = s.ask(WeightsOf{search, over(kPrompts)});
  std::vector<std::tuple<float, int, int, int, int, int>>
      expected;  // −weight, prompt, layer, head, query, key
  for (const auto& [number, one] : each()) {
    for (int layer = 0; layer < one.config().n_layer; ++layer)
      for (int head = 0; head < one.config().n_head; ++head) {
        const auto pattern = one.ask(PatternOf{layer, head});
        for (int query = 1; query < one.length(); ++query) {
          if (one.run->tokens.labels[query] != "·king") continue;
          for (int key = 0; key <= query; ++key)
            if (pattern->matrix().at(query, key) > 0.05F)
              expected.emplace_back(-pattern->matrix().at(query, key), number, layer, head, query, key);
        }
      }
  }
  std::ranges::sort(expected);
  ASSERT_GT(expected.size(), 20U);
  EXPECT_EQ(found->count, std::ssize(expected));
  ASSERT_EQ(found->best.size(), std::min(expected.size(), FoundWeights::kMax));
  for (std::size_t i = 0; i < found->best.size(); ++i) {
    const auto& f = found->best[i];
    EXPECT_EQ(std::tuple(-f.weight, f.prompt, f.layer, f.head, f.query, f.key), expected[i]) << i;
    EXPECT_TRUE(f.excerpt.text().ends_with("·king")) << f.excerpt.text();
    const auto of = std::ranges::find(each(), f.prompt, &std::pair<int, Scenario>::first);
    EXPECT_EQ(f.excerpt.key, of->second.run->tokens.labels[f.key]);
  }
  // For a single prompt the result is that of its run.
  const Scenario first(kPrompts[0]);
  const auto alone = first.ask(WeightsOf{search});
  std::erase_if(expected, [](const auto& e) { return std::get<1>(e) != 1; });
  ASSERT_EQ(alone->best.size(), std::min(expected.size(), FoundWeights::kMax));
  EXPECT_EQ(alone->best.front().weight, -std::get<0>(expected.front()));
}

/// The fit of a shape without query 0, which sees only itself: the share of its queries' attention that falls
/// on its cells when the shape is shifted; nothing if the shifted shape does not fit.
std::optional<double> fit(const Scenario& s, int layer, int head,
                          const std::vector<WeightSearch::Cell>& shape, int by) {
  const auto pattern = s.ask(PatternOf{layer, head});
  std::map<int, double> of_query;
  for (const auto& [query, key] : shape) {
    if (query + by < 1 || key + by < 0 || query + by >= s.length() || key + by >= s.length())
      return std::nullopt;
    of_query[query] += static_cast<double>(pattern->matrix().at(query + by, key + by));
  }
  double sum = 0;
  for (const auto& [query, part] : of_query) sum += part;
  return sum / static_cast<double>(of_query.size());
}

TEST(ShapeSearch, FindsTheBestPlaceOfEachHead) {
  const Scenario s("The king and the queen and the king saw the queen and the king");
  const std::vector<WeightSearch::Cell> shapes[]{
      {{5, 4}, {6, 5}, {7, 6}}, {{8, 0}, {9, 0}, {9, 9}}, {{4, 4}}, {{3, 5}, {4, 5}}, {{40, 38}, {41, 39}}};
  for (const auto& shape : shapes) {
    for (const bool moves : {false, true}) {
      WeightSearch search;
      search.shape = shape;
      search.moves = moves;
      const auto found = s.ask(WeightsOf{search});
      int heads = 0;
      for (int layer = 0; layer < s.config().n_layer; ++layer)
        for (int head = 0; head < s.config().n_head; ++head) {
          double best = 0;
          for (int by = moves ? -60 : 0; by <= (moves ? s.length() : 0); ++by)
            best = std::max(best, fit(s, layer, head, shape, by).value_or(0));
          const auto of_head = std::ranges::find_if(
              found->best, [&](const FoundWeight& f) { return f.layer == layer && f.head == head; });
          if (best == 0) {  // above the diagonal
            EXPECT_EQ(of_head, found->best.end());
            continue;
          }
          ++heads;
          ASSERT_NE(of_head, found->best.end()) << layer << "." << head;
          EXPECT_NEAR(static_cast<double>(of_head->weight), best, 1e-6)
              << layer << "." << head << " " << moves;
          EXPECT_LE(of_head->key, of_head->query);
        }
      EXPECT_EQ(found->count, heads);
    }
  }
}

TEST(ShapeSearch, LeavesOutPromptsThatAreTooShort) {
  const Scenario s("x");
  WeightSearch search;
  search.shape = {{6, 5}};
  search.moves = false;
  const auto found = s.ask(WeightsOf{search, over(kPrompts)});
  ASSERT_FALSE(found->best.empty());
  for (const FoundWeight& f : found->best) EXPECT_EQ(f.prompt, 1) << "the others have six tokens at most";
  WeightSearch nothing = search;
  nothing.shape = {{40, 39}};
  EXPECT_TRUE(s.ask(WeightsOf{nothing, over(kPrompts)})->best.empty());
  nothing.moves = true;
  WeightSearch near = nothing;
  near.shape = {{1, 0}};
  EXPECT_EQ(s.ask(WeightsOf{nothing, over(kPrompts)})->best, s.ask(WeightsOf{near, over(kPrompts)})->best)
      << "wherever along the diagonal it was marked";
  nothing.shape = {{2147483647, 0}, {1, 2147483647}};
  EXPECT_TRUE(s.ask(WeightsOf{nothing, over(kPrompts)})->best.empty());
}

TEST(WeightsOf, GoOnFromTheirParts) {
  const Scenario s("x");
  WeightSearch search;
  search.above = 0.5;
  const WeightsOf question{search, over(kPrompts)};
  const auto whole = s.ask(question);
  model::Workspace workspace(1);
  FoundWeights part = *Scenario(kPrompts[0]).ask(WeightsOf{search});
  part.progress.done = 1;
  const FoundWeights rest = question.compute(*s.run, {{workspace}, &part, nullptr, [](auto&&, double) {}});
  EXPECT_EQ(rest.best, whole->best);
  EXPECT_EQ(rest.count, whole->count);
}

TEST(ListsOfPrompts, OfWhichNoneCanBeRunHaveNoNumbers) {
  const Scenario s("x");
  const OverPrompts bad = over({{.text = "", .ids = {-1}}, {.text = "", .ids = {999999}}});
  const auto space = s.ask(QueryKeySpaceOf{1, 1, bad});
  EXPECT_EQ(space->length(), 0);
  EXPECT_EQ(space->progress.skipped, 2U);
  EXPECT_TRUE(s.ask(WeightsOf{{}, bad})->best.empty());
  EXPECT_TRUE(s.ask(MetricsOnList{bad})->heads.empty());
}

TEST(ListsOfPrompts, LeaveOutPromptsBeyondTheContextAndCountThem) {
  const Scenario s("x");
  const Prompt longest{.text = "", .ids = std::vector<int>(s.config().n_ctx, 7)},
      too_long{.text = "", .ids = std::vector<int>(s.config().n_ctx + 1, 7)};
  const QueryKeySpaceOf question{1, 3, over({longest, too_long, kPrompts[2]})};
  const auto found = s.ask(question);
  EXPECT_EQ(found->progress.done, 3U);
  EXPECT_EQ(found->progress.skipped, 1U);
  EXPECT_THAT(found->progress.problem, AllOf(StartsWith("prompt 2: the prompt has "), EndsWith("(n_ctx)")));
  EXPECT_EQ(found->length(), s.config().n_ctx + Scenario(kPrompts[2]).length()) << "which has no room for it";
}

TEST(QueryKeySpaceOf, OfOnePromptIsThatPromptsSpace) {
  const Scenario s("x"), one(kPrompts[2]);
  const auto list = s.ask(QueryKeySpaceOf{2, 1, over({kPrompts[2]})});
  const auto space = one.ask(QueryKeySpaceOf{2, 1});
  EXPECT_EQ(list->coordinates, space->coordinates);
  EXPECT_EQ(list->shares, space->shares);
  ASSERT_EQ(std::ssize(list->places), one.length());
  EXPECT_EQ(list->places[3], (QueryKeySpace::Place{0, 3, one.run->run->tokens[3]}));
}

TEST(QueryKeySpaceOf, HasTheTokensOfAllPromptsThatThereIsRoomFor) {
  const Scenario s("x");
  const auto list = s.ask(QueryKeySpaceOf{1, 3, over(kPrompts)});
  int tokens = 0;
  for (const auto& [number, one] : each()) tokens += one.length();
  EXPECT_EQ(list->length(), tokens);
  EXPECT_EQ(list->prompts, kPrompts.size());
  EXPECT_EQ(list->progress.skipped, 1U);
  const int each_has = s.config().n_ctx;
  const std::vector<Prompt> long_ones(40, Prompt{.text = "", .ids = std::vector<int>(each_has, 7)});
  const auto many = s.ask(QueryKeySpaceOf{1, 3, over(long_ones)});
  EXPECT_EQ(static_cast<int>(many->prompts), QueryKeySpace::kMaxTokens / each_has);
  EXPECT_EQ(many->length(), static_cast<int>(many->prompts) * each_has);
}

const Scenario& prompt_of(const FoundActivation& found) {
  return std::ranges::find(each(), found.prompt, &std::pair<int, Scenario>::first)->second;
}

double activation(const Scenario& s, int layer, int neuron, int position) {
  return reference(s).blocks[static_cast<std::size_t>(layer)].mlp_post[position][neuron];
}

/// Ties of the same beginning of two prompts: the earlier prompt comes first.
TEST(ActivationsOf, AreTheLargestOfAllPromptsByTheReference) {
  const Scenario s("x");
  const auto found = s.ask(ActivationsOf{{{4, 463}}, over(kPrompts)});
  struct Expected {
    double activation;
    int prompt, position;
  };
  std::vector<Expected> expected;
  for (const auto& [number, one] : each())
    for (int position = 0; position < one.length(); ++position)
      expected.push_back({activation(one, 4, 463, position), number, position});
  std::ranges::stable_sort(expected, std::greater<>(), &Expected::activation);
  ASSERT_GT(expected.size(), 12U);
  EXPECT_EQ(found->count, std::ssize(expected));
  EXPECT_EQ(found->progress.done, kPrompts.size());
  EXPECT_EQ(found->progress.skipped, 1U);
  ASSERT_EQ(found->best.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const FoundActivation& f = found->best[i];
    EXPECT_NEAR(f.activation, expected[i].activation, 1e-5);
    EXPECT_EQ(f.prompt, expected[i].prompt) << i;
    EXPECT_EQ(f.position, expected[i].position) << i;
    EXPECT_EQ(f.layer, 4);
    EXPECT_EQ(f.neuron, 463);
    EXPECT_EQ(f.id, prompt_of(f).run->run->tokens[f.position]);
  }
}

TEST(ActivationsOf, HaveTheTokensAroundWithTheirActivations) {
  const Scenario s("x");
  const auto found = s.ask(ActivationsOf{{{4, 823}, {4, 706}}, over(kPrompts)});
  ASSERT_FALSE(found->best.empty());
  for (const auto& f : found->best) {
    const Excerpt& excerpt = f.excerpt;
    const Scenario& run = prompt_of(f);
    const int first = std::max(0, f.position - 16), end = std::min(run.length(), f.position + 9);
    EXPECT_EQ(excerpt.first, first);
    EXPECT_EQ(excerpt.continues, end < run.length());
    ASSERT_EQ(std::ssize(excerpt.labels), end - first);
    ASSERT_EQ(std::ssize(excerpt.values), end - first);
    for (int position = first; position < end; ++position) {
      EXPECT_EQ(excerpt.labels[position - first], run.run->tokens.labels[position]);
      EXPECT_NEAR(excerpt.values[position - first], activation(run, f.layer, f.neuron, position), 1e-5);
    }
    EXPECT_EQ(excerpt.values[f.position - first], f.activation);
  }
}

TEST(ActivationsOf, AreThoseOfItsEdits) {
  const Scenario s = with_edits("L2.mlp_post[3][7]=25; L1H0.z=0");
  const auto found = s.ask(ActivationsOf{{{2, 7}, {2, 8}}});
  ASSERT_FALSE(found->best.empty());
  EXPECT_EQ(found->best.front().activation, 25);
  EXPECT_EQ(found->best.front().position, 3);
  for (const FoundActivation& f : found->best) {
    const auto pass = s.ask(PassOfToken{f.position});
    EXPECT_EQ(f.activation, pass->blocks[2].mlp_post[f.neuron]);
  }
}

}  // namespace
}  // namespace headscope::app::prompt_list_test
