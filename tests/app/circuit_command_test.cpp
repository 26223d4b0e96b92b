// headscope circuit: its arguments, and its output compared with the answers.
#include "app/cli/commands/command_arguments.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/app/command_runs.h"

namespace headscope::app::circuit_command_test {
namespace {

using nlohmann::json;

const Words kCircuit{"circuit", "--prompt", "The king gave Mr. Fox a horse. Then the king gave Mr."};
const Words kFrom{"--second", "The king gave to a Fox a horse. Then the king gave Mr."};

json answer(const Words& more) {
  return json::parse(succeed(kCircuit + Words{"--json"} + more));
}

TEST(CircuitCommand, IsParsed) {
  const auto defaults = testing::parsed<CircuitCommand>(kCircuit);
  EXPECT_EQ(defaults.method, CircuitMethod::integrated);
  EXPECT_EQ(defaults.measured.metric, GradientMetric::difference);
  EXPECT_EQ(defaults.edges, kCircuitEdges);
  EXPECT_FALSE(defaults.ablation || defaults.comparison.second || defaults.steps ||
               defaults.measured.position || defaults.by_position);
  const auto full = testing::parsed<CircuitCommand>(
      kCircuit + Words{"--method", "integrated", "--metric", "logprob", "--token", " it", "--position", "2",
                       "--ablate", "zero", "--edges", "7", "--steps", "9", "--by-position", "--json"});
  EXPECT_EQ(full.measured.metric, GradientMetric::log_probability);
  EXPECT_EQ(full.ablation, CircuitCut::zero);
  EXPECT_EQ(full.edges, 7);
  EXPECT_EQ(full.steps, 9);
  EXPECT_EQ(full.measured.position, 2);
  EXPECT_TRUE(full.by_position && full.json);
}

TEST(CircuitCommand, JsonHasEdgesAndWhatTheyKeep) {
  const json circuit = answer(kFrom + Words{"--token", " Fox", "--other-token", " Badger", "--edges", "60"});
  EXPECT_EQ(circuit["elsewhere"], "second");
  EXPECT_EQ(circuit["method"], "integrated");
  EXPECT_EQ(circuit["token"]["text"], " Fox");
  EXPECT_EQ(circuit["other_token"]["text"], " Badger");
  EXPECT_NEAR(circuit["value"].get<double>(), 12.930, 1e-3);
  const double value = circuit["value"], none = circuit["value_without_edges"],
               kept = circuit["value_of_circuit"];
  EXPECT_NEAR(circuit["faithfulness"].get<double>(), (kept - none) / (value - none), 1e-9);
  EXPECT_GT(circuit["faithfulness"].get<double>(), 0.7);
  EXPECT_EQ(circuit["all_edges"], 3628);
  ASSERT_FALSE(circuit["edges"].empty());
  EXPECT_EQ(circuit["edges"][0]["from"], "embedding");
  EXPECT_EQ(circuit["edges"][0]["to"], "L0H0.v");
  double before = INFINITY;
  for (const json& edge : circuit["edges"]) {
    EXPECT_LE(std::abs(edge["score"].get<double>()), before);
    before = std::abs(edge["score"].get<double>());
  }
  const json positions =
      answer({"--by-position", "--method", "flow", "--ablate", "zero", "--metric", "loss"});
  EXPECT_EQ(positions["elsewhere"], "zero");
  EXPECT_TRUE(positions["token"].is_null());
  EXPECT_TRUE(positions["position"].is_null());
  EXPECT_TRUE(positions["edges"][0].contains("position"));
}

TEST(CircuitCommand, CarriesOverWhatAnAlignmentMatches) {
  const std::string longer = kFrom[1] + " Fox";
  for (const char* align : {"position", "token"}) {
    const json circuit = answer({"--second", longer, "--align", align, "--edges", "5"});
    EXPECT_EQ(circuit["elsewhere"], "second");
    EXPECT_NE(circuit["value"], circuit["value_without_edges"]);
  }
  EXPECT_THAT(fail(kCircuit + Words{"--second", longer}), HasSubstr("give --align to match them"));
  const std::string shorter = "The king gave to a Fox a horse.";
  EXPECT_GT(answer({"--second", shorter, "--align", "position", "--edges", "5"})["uncut_positions"], 0);
}

TEST(CircuitCommand, TextEndsWithTheKeptPart) {
  const auto lines = lines_of(succeed(kCircuit + kFrom + Words{"--edges", "30"}));
  EXPECT_THAT(lines.front(), AllOf(HasSubstr("logit of"), HasSubstr("second elsewhere")));
  EXPECT_THAT(lines.back(), HasSubstr("kept part of the difference (faithfulness)"));
  const std::string fox =
      lines_of(succeed(kCircuit + Words{"--token", " Fox", "--edges", "5", "--metric", "logprob"})).front();
  EXPECT_THAT(fox, StartsWith("log2 probability of ·Fox (id ")) << "numbers are in bits";
}

TEST(CircuitCommand, WritesTheNumbersThatPlotWrites) {
  const Words plot{"plot", "circuit_graph", "--prompt", kCircuit[2]}, csv{"--out", "-", "--format", "csv"};
  struct Case {
    Words command, plotted;
  };
  for (const auto& [command, plotted] : {
           Case{kFrom + Words{"--edges", "1000"}, kFrom + Words{"--edges", "1000"}},
           Case{{"--method", "flow", "--ablate", "zero", "--position", "5"},
                {"--method", "flow", "--elsewhere", "zero", "--query", "5"}},
       }) {
    const std::string drawn = succeed(kCircuit + command + csv);
    EXPECT_GT(lines_of(drawn).size(), 5U);
    EXPECT_EQ(drawn, succeed(plot + plotted + csv));
  }
  EXPECT_EQ(
      answer(kFrom + Words{"--edges", "1000"})["edges"].size() + 1 + 4,  // heading, what the circuit keeps
      lines_of(succeed(kCircuit + kFrom + Words{"--edges", "1000"} + csv)).size())
      << "a file has edges without room in a picture, too";
}

}  // namespace
}  // namespace headscope::app::circuit_command_test
