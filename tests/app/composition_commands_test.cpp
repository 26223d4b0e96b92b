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
  const auto csv = lines_of(succeed({"composition", "--kind", "q", "--csv"}));
  EXPECT_EQ(csv.size(), 961U);
  EXPECT_EQ(csv[0],
            "kind,sender layer,sender head,receiver layer,receiver head,composition,random,above random");
  EXPECT_THAT(csv[1], StartsWith("q,2,3,4,6,"));
  EXPECT_THAT(wrong_use({"composition", "--kind", "x"}), HasSubstr("q, k or v"));
  EXPECT_THAT(wrong_use({"composition", "--csv", "--json"}), HasSubstr("one format at a time"));
  EXPECT_THAT(wrong_use({"composition", "--top", "0"}), HasSubstr("--top"));
}

const Words kScore{"score", "--prompt", kRobot, "--layer", "3", "--head", "2", "--query", "6", "--key", "4"};

TEST(ScoreCommand, WritesEveryProduct) {
  const Scenario s(kRobot);
  const auto a = s.ask(ScoreSourcesOf{3, 2, 6, 4});
  const json all = json::parse(succeed(kScore + Words{"--json"}));
  EXPECT_EQ(all.at("layer"), 3);
  EXPECT_EQ(all.at("key"), 4);
  EXPECT_EQ(all.at("scaled_score"), a->score);
  EXPECT_NEAR(all.at("weight"), static_cast<double>(Scenario(kRobot, {3, 2, -1}).weight(6, 4)), 1e-7);
  EXPECT_EQ(all.at("sum"), a->sum());
  EXPECT_EQ(all.at("rounding_error"), a->rounding_error());
  EXPECT_EQ(all.at("ln_1_scale").at("query"), a->query_scale);
  EXPECT_EQ(all.at("ln_1_scale").at("key"), a->key_scale);
  EXPECT_FALSE(all.contains("edited_score"));
  ASSERT_EQ(std::ssize(all.at("sources")), a->count());
  EXPECT_EQ(all["sources"][0].dump(), R"({"kind":"token_embedding"})");
  EXPECT_EQ(all["sources"][2], (json{{"kind", "head"}, {"layer", 0}, {"head", 0}}));
  EXPECT_EQ(all["sources"][11], (json{{"kind", "mlp"}, {"layer", 0}}));
  EXPECT_EQ(all["sources"][33]["kind"], "bias");
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

TEST(ScoreCommand, TakesTheStrongestKey) {
  const Scenario s(kRobot, {3, 2, -1});
  int strongest = 0;
  for (int key = 0; key <= 6; ++key)
    if (s.weight(6, key) > s.weight(6, strongest)) strongest = key;
  const json without = json::parse(
      succeed({"score", "--prompt", kRobot, "--layer", "3", "--head", "2", "--query", "6", "--json"}));
  EXPECT_EQ(without.at("key"), strongest);
}

TEST(ScoreCommand, SaysWhatEditsMakeOfTheScore) {
  const json set = json::parse(succeed(kScore + Words{"--edit", "L3H2.scores[6,4]=2", "--json"}));
  EXPECT_EQ(set.at("edited_score"), 2);
  EXPECT_NE(set.at("scaled_score"), 2);
  EXPECT_THAT(succeed(kScore + Words{"--edit", "L3H2.scores[6,4]=2"}),
              HasSubstr("2.000000  what edits make of it"));
  const json masked = json::parse(succeed(kScore + Words{"--edit", "L3H2.scores[6,4]=null", "--json"}));
  EXPECT_TRUE(masked.at("edited_score").is_null());
  EXPECT_EQ(masked.at("weight"), 0);
  const json added = json::parse(succeed(kScore + Words{"--edit", "L3H2.q[6][1]+=2", "--json"}));
  EXPECT_EQ(added.at("sources").back().at("kind"), "edits");
}

TEST(ScoreCommand, RefusesPlacesThatAreNone) {
  const auto with = [](const Words& place) { return fail(Words{"score", "--prompt", kRobot} + place); };
  EXPECT_THAT(with({"--layer", "6"}), HasSubstr("there is no layer 6: the last one is 5"));
  EXPECT_THAT(with({"--head", "8"}), HasSubstr("there is no head 8: the last one is 7"));
  EXPECT_THAT(with({"--query", "99"}), HasSubstr("there is no token 99"));
  EXPECT_THAT(with({"--query", "3", "--key", "4"}), HasSubstr("there is no key 4: the last one is 3"));
  EXPECT_THAT(with({"--query", "1", "--key", "3", "--edit", "L0H0.mask=1000/1010/1110/1111"}),
              HasSubstr("query 1 does not see key 3 in L0 H0"));
  EXPECT_THAT(wrong_use({"score"}), HasSubstr("--prompt"));
}

TEST(AttributeCommand, SplitsMlpsByNeuron) {
  const Words attribute{"attribute", "--prompt", kRobot, "--token", "id:11", "--other-token", "id:13"};
  const Scenario s(kRobot);
  const auto of = [&](int layer) { return s.ask(NeuronsOf{layer, s.length() - 1, 11, 13}); };
  const json one = json::parse(succeed(attribute + Words{"--neurons-of", "3", "--json"}));
  ASSERT_EQ(one.at("layers").size(), 6U);
  for (int layer = 0; layer < 6; ++layer) EXPECT_EQ(one["layers"][layer].contains("neurons"), layer == 3);
  const json& layer = one["layers"][3];
  EXPECT_EQ(layer.at("neurons"), json(of(3)->parts));
  EXPECT_EQ(layer.at("neuron_activations"), json(of(3)->activations));
  EXPECT_EQ(layer.at("neuron_bias"), of(3)->bias);
  EXPECT_FALSE(layer.contains("neuron_edits"));
  double sum = layer["neuron_bias"];
  for (const json& part : layer["neurons"]) sum += part.get<double>();
  EXPECT_NEAR(sum, layer.at("mlp").get<double>(), 2e-5);
  const json all =
      json::parse(succeed(attribute + Words{"--neurons-of", "all", "--edit", "L2.mlp_out+=0.1", "--json"}));
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(all["layers"][i].at("neurons").size(), of(i)->parts.size());
    EXPECT_EQ(all["layers"][i].contains("neuron_edits"), i == 2);
  }

  const auto lines = lines_of(succeed(attribute + Words{"--neurons-of", "3", "--top", "4"}));
  const auto title = std::ranges::find(lines, "by neuron, L3 MLP");
  ASSERT_EQ(lines.end() - title, 8) << "the title, 4 neurons, the others, the bias, the sum";
  double before = std::numeric_limits<double>::infinity(), written = 0;
  for (int i = 1; i <= 4; ++i) {
    const double part = std::stod(title[i]);
    EXPECT_LE(std::abs(part), before);
    before = std::abs(part);
    written += part;
    const std::string name = title[i].substr(title[i].find("neuron "));
    EXPECT_NEAR(of(3)->parts[std::stoul(name.substr(7))], part, 1e-6) << name;
  }
  EXPECT_THAT(title[5], HasSubstr("the other " + with_commas(of(3)->parts.size() - 4)));
  EXPECT_THAT(title[6], HasSubstr("output bias"));
  EXPECT_NEAR(written + std::stod(title[5]) + std::stod(title[6]), std::stod(title[7]), 1e-5);
  EXPECT_NEAR(std::stod(title[7]), of(3)->sum(), 1e-6);
}

TEST(AttributeCommand, RefusesNeuronsThatAreNone) {
  const Words attribute{"attribute", "--prompt", kRobot};
  EXPECT_THAT(fail(attribute + Words{"--neurons-of", "6"}),
              HasSubstr("there is no layer 6: the last one is 5"));
  for (const char* layer : {"x", "-1", "1.5", ""})
    EXPECT_THAT(wrong_use(attribute + Words{"--neurons-of", layer}), HasSubstr("--neurons-of")) << layer;
  EXPECT_THAT(wrong_use(attribute + Words{"--top", "3"}), HasSubstr("--top requires --neurons-of"));
  EXPECT_THAT(wrong_use(attribute + Words{"--neurons-of", "1", "--top", "3", "--json"}),
              HasSubstr("JSON has all neurons"));
  EXPECT_THAT(wrong_use(attribute + Words{"--neurons-of", "1", "--top", "0"}), HasSubstr("--top"));
}

}  // namespace
}  // namespace headscope::app::composition_commands_test
