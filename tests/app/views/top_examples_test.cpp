// Examples of neurons and heads: the rows against the answers, the shades, and where clicks lead.

#include "app/run/analyses/search.h"
#include "app/run/analyses/token_pass.h"
#include "app/views/parts/names.h"
#include "tests/app/kings.h"

namespace headscope::app::top_examples_test {
namespace {

constexpr double kAll = -std::numeric_limits<double>::infinity();

TEST(TopExamplesView, OfANeuronListTheLargestActivationsOfTheList) {
  const Scenario s = kings();
  const ViewFixture shown("top_examples", s, 1200, 700, {{"text", "list"}, {"example-neurons", "17,30"}});
  const auto found = s.ask(ActivationsOverList{{s.prompts, false}, {{{2, 17}, {2, 30}}, {}, kAll}});
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
  EXPECT_THAT(in_words(shown.click(shown.find(0, 0))), StartsWith("example-neurons " + most + ", query "));
  EXPECT_EQ(shown.choose("Turn off neuron " + most, shown.find(0, 0)).size(), 1U);
}

}  // namespace
}  // namespace headscope::app::top_examples_test
