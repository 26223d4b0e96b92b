// The largest activations of neurons over lists of prompts, against the reference's activations in double
// precision.
#include "app/run/analyses/search.h"

#include <algorithm>

#include "app/run/analyses/token_pass.h"
#include "model/files/error.h"
#include "tests/app/prompt_lists.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::activation_search_test {
namespace {

const std::vector<Prompt> kPrompts{{.text = "The king and the queen and the king", .ids = {}},
                                   {.text = "", .ids = {999999}},
                                   {.text = "Once there was a little girl", .ids = {}},
                                   {.text = "The king and the queen", .ids = {}}};

OverPrompts over(const std::vector<Prompt>& prompts, bool start_token = false) {
  return {testing::list_of(prompts), start_token};
}

/// Every prompt that can be run, by its number.
const std::vector<std::pair<int, Scenario>>& each() {
  static const std::vector<std::pair<int, Scenario>> all = [] {
    std::vector<std::pair<int, Scenario>> runs;
    for (const int i : {0, 2, 3}) runs.emplace_back(i + 1, Scenario(kPrompts[static_cast<std::size_t>(i)]));
    return runs;
  }();
  return all;
}
const Scenario& prompt_of(const FoundActivation& found) {
  return std::ranges::find(each(), found.prompt, &std::pair<int, Scenario>::first)->second;
}

double activation(const Scenario& s, int layer, int neuron, int position) {
  return reference(s).blocks[static_cast<std::size_t>(layer)].mlp_post[position][neuron];
}

/// Ties of the same beginning of two prompts: the earlier prompt comes first.
TEST(ActivationsOverList, AreTheLargestOfAllPromptsByTheReference) {
  const Scenario s("x");
  const ActivationSearch search{{{4, 463}}, {}, 0};
  const auto found = s.ask(ActivationsOverList{over(kPrompts), search});
  struct Expected {
    double activation;
    int prompt, position;
  };
  std::vector<Expected> expected;
  for (const auto& [number, one] : each())
    for (int position = 0; position < one.length(); ++position)
      if (const double value = activation(one, 4, 463, position); value > 0)
        expected.push_back({value, number, position});
  std::ranges::stable_sort(expected, std::greater<>(), &Expected::activation);
  ASSERT_GT(expected.size(), 12U);
  EXPECT_EQ(found->count, std::ssize(expected));
  EXPECT_EQ(found->progress.done, 4U);
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

TEST(ActivationsOverList, HaveTheTokensAroundWithTheirActivations) {
  const Scenario s("x");
  const ActivationSearch search{{{4, 823}, {4, 706}}, {}, 0, {2, 1}};
  const auto found = s.ask(ActivationsOverList{over(kPrompts), search});
  ASSERT_FALSE(found->best.empty());
  ASSERT_EQ(found->excerpts.size(), found->best.size());
  for (std::size_t i = 0; i < found->best.size(); ++i) {
    const FoundActivation& f = found->best[i];
    const Excerpt& excerpt = found->excerpts[i];
    const Scenario& run = prompt_of(f);
    const int first = std::max(0, f.position - 2), end = std::min(run.length(), f.position + 2);
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

TEST(ActivationsOfRun, AreThoseOfItsEdits) {
  const Scenario s = with_edits("L2.mlp_post[3][7]=25; L1H0.z=0");
  const auto found = s.ask(ActivationsOfRun{{{{2, 7}, {2, 8}}, {}, 0}});
  ASSERT_FALSE(found->best.empty());
  EXPECT_EQ(found->best.front().activation, 25);
  EXPECT_EQ(found->best.front().position, 3);
  for (const FoundActivation& f : found->best) {
    const auto pass = s.ask(PassOfToken{f.position});
    EXPECT_EQ(f.activation, pass->blocks[2]->mlp_post[f.neuron]);
  }
}

TEST(ActivationSearch, TakesTokensAndALimit) {
  const Scenario s("The king and the queen and the king");
  const auto found = [&](TokenSelector at, double above) {
    std::vector<int> positions;
    for (const FoundActivation& f : s.ask(ActivationsOfRun{{{{4, 463}}, std::move(at), above}})->best)
      positions.push_back(f.position);
    std::ranges::sort(positions);
    return positions;
  };
  std::vector<int> kings, late, large;
  for (int position = 0; position < s.length(); ++position) {
    const double value = activation(s, 4, 463, position);
    if (value > 0 && s.run->tokens.labels[position] == "·king") kings.push_back(position);
    if (value > 0 && position >= 4) late.push_back(position);
    if (value > 0.2) large.push_back(position);
  }
  EXPECT_EQ(found({TokenSelector::Kind::text, "king", 0}, 0), kings);
  EXPECT_EQ(found({TokenSelector::Kind::from_position, "", 4}, 0), late);
  EXPECT_EQ(found({}, 0.2), large);
}

}  // namespace
}  // namespace headscope::app::activation_search_test
