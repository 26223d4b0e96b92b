// composition, score and attribute --neurons-of: their output compared with the answers.
#include <nlohmann/json.hpp>

#include "app/run/analyses/attribution.h"
#include "app/run/analyses/composition.h"
#include "app/run/analyses/score_sources.h"
#include "tests/app/command_runs.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::composition_commands_test {
namespace {

using nlohmann::json;

TEST(CompositionCommand, WritesEveryPairStrongestFirst) {
  const json all = json::parse(succeed({"composition", "--json"}));
  EXPECT_EQ(all.at("how").at("model"), "tales");
  EXPECT_THAT(all.at("how").at("weights").get<std::string>(), StartsWith("sha256:"));
  EXPECT_EQ(all.at("n_layer"), 6);
  EXPECT_EQ(all.at("n_head"), 8);
  ASSERT_EQ(all.at("kinds").size(), 3U);
  const Scenario s(kRobot);
  for (const json& kind : all["kinds"]) {
    const std::string name = kind.at("kind");
    const auto c = s.ask(CompositionOf{name == "q"   ? CompositionKind::q
                                       : name == "k" ? CompositionKind::k
                                                     : CompositionKind::v});
    EXPECT_EQ(kind.at("random"), c->baseline);
    ASSERT_EQ(kind.at("pairs").size(), 960U);
    double before = 1;
    for (const json& pair : kind["pairs"]) {
      const int sender = 8 * pair.at("sender").at("layer").get<int>() + pair["sender"].at("head").get<int>();
      const int receiver =
          8 * pair.at("receiver").at("layer").get<int>() + pair["receiver"].at("head").get<int>();
      EXPECT_NEAR(pair.at("composition"), c->value(sender, receiver), 1e-9);
      EXPECT_EQ(pair.at("above_random"), c->excess(sender, receiver));
      EXPECT_LE(pair["above_random"], before);
      before = pair["above_random"];
    }
  }
}

TEST(CompositionCommand, TakesAKindAndANumber) {
  const json one = json::parse(succeed({"composition", "--kind", "k", "--top", "5", "--json"}));
  ASSERT_EQ(one["kinds"].size(), 1U);
  EXPECT_EQ(one["kinds"][0]["kind"], "k");
  EXPECT_EQ(one["kinds"][0]["pairs"].size(), 5U);
  EXPECT_EQ(lines_of(succeed({"composition", "--kind", "v"})).size(), 21U) << "a title and 20 pairs";
  const auto csv = lines_of(succeed({"composition", "--kind", "q", "--out", "-", "--format", "csv"}));
  EXPECT_EQ(csv.size(), 961U);
  EXPECT_THAT(csv[1], StartsWith("q,2,3,4,6,"));
  EXPECT_THAT(wrong_use({"composition", "--kind", "x"}), HasSubstr("q, k or v"));
  EXPECT_THAT(wrong_use({"composition", "--out", "a.csv", "--json"}), HasSubstr("one format at a time"));
}

const Words kScore{"score", "--prompt", kRobot, "--layer", "3", "--head", "2", "--query", "6", "--key", "4"};

TEST(ScoreCommand, WritesEveryProduct) {
  const Scenario s(kRobot);
  const auto a = s.ask(ScoreSourcesOf{3, 2, 6, 4});
  const json all = json::parse(succeed(kScore + Words{"--json"}));
  EXPECT_EQ(all.at("scaled_score"), a->score);
  EXPECT_EQ(all.at("sum"), a->sum());
  EXPECT_EQ(all.at("rounding_error"), a->rounding_error());
  EXPECT_EQ(all.at("ln_1_scale").at("query"), a->query_scale);
  EXPECT_FALSE(all.contains("edited_score"));
  ASSERT_EQ(std::ssize(all.at("sources")), a->count());
  EXPECT_EQ(all["sources"][2], (json{{"kind", "head"}, {"layer", 0}, {"head", 0}}));
  for (int i = 0; i < a->count(); ++i)
    for (int j = 0; j < a->count(); ++j)
      ASSERT_EQ(all["products"][static_cast<std::size_t>(i)][static_cast<std::size_t>(j)], a->product(i, j));
}

TEST(ScoreCommand, WritesTheStrongestAndTheRest) {
  const auto lines = lines_of(succeed(kScore + Words{"--top", "3"}));
  ASSERT_EQ(lines.size(), 8U) << "a title, 3 products, the others, the sum, the model's, the rounding error";
  EXPECT_THAT(lines[0], StartsWith("scaled score of L3 H2, query 6  "));
  EXPECT_THAT(lines[4], EndsWith("the other 1,153"));
  double sum = 0;
  for (int i = 1; i <= 4; ++i) sum += std::stod(lines[static_cast<std::size_t>(i)]);
  EXPECT_NEAR(sum, std::stod(lines[5]), 3e-6);
}

TEST(ScoreCommand, SaysWhatEditsMakeOfTheScore) {
  const json set = json::parse(succeed(kScore + Words{"--edit", "L3H2.scores[6,4]=2", "--json"}));
  EXPECT_EQ(set.at("edited_score"), 2);
  EXPECT_NE(set.at("scaled_score"), 2);
  const json masked = json::parse(succeed(kScore + Words{"--edit", "L3H2.scores[6,4]=null", "--json"}));
  EXPECT_TRUE(masked.at("edited_score").is_null());
  EXPECT_EQ(masked.at("weight"), 0);
  EXPECT_THAT(fail({"score", "--prompt", kRobot, "--query", "3", "--key", "4"}),
              HasSubstr("there is no key 4: the last one is 3"));
}

TEST(AttributeCommand, SplitsMlpsByNeuron) {
  const Words attribute{"attribute", "--prompt", kRobot, "--token", "id:11", "--other-token", "id:13"};
  const Scenario s(kRobot);
  const auto of = s.ask(NeuronsOf{3, s.length() - 1, 11, 13});
  const json one = json::parse(succeed(attribute + Words{"--neurons-of", "3", "--json"}));
  ASSERT_EQ(one.at("layers").size(), 6U);
  for (int layer = 0; layer < 6; ++layer) EXPECT_EQ(one["layers"][layer].contains("neurons"), layer == 3);
  const json& layer = one["layers"][3];
  EXPECT_EQ(layer.at("neurons"), json(of->parts));
  EXPECT_EQ(layer.at("neuron_activations"), json(of->activations));
  EXPECT_EQ(layer.at("neuron_bias"), of->bias);

  const auto lines = lines_of(succeed(attribute + Words{"--neurons-of", "3", "--top", "4"}));
  const auto title = std::ranges::find(lines, "by neuron, L3 MLP");
  ASSERT_EQ(lines.end() - title, 8) << "the title, 4 neurons, the others, the bias, the sum";
  double before = std::numeric_limits<double>::infinity(), written = 0;
  for (int i = 1; i <= 4; ++i) {
    const double part = std::stod(title[i]);
    EXPECT_LE(std::abs(part), before);
    before = std::abs(part);
    written += part;
    EXPECT_NEAR(of->parts[std::stoul(title[i].substr(title[i].find("neuron ") + 7))], part, 1e-6);
  }
  EXPECT_NEAR(written + std::stod(title[5]) + std::stod(title[6]), std::stod(title[7]), 1e-5);
  EXPECT_NEAR(std::stod(title[7]), of->sum(), 1e-6);
  EXPECT_THAT(wrong_use(attribute + Words{"--neurons-of", "x"}), HasSubstr("--neurons-of"));
}

}  // namespace
}  // namespace headscope::app::composition_commands_test
