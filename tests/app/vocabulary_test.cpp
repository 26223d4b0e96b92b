// The words that commands and views share: tokens, metrics and second prompts, their old names, and that what
// has no effect is refused.
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/cli/commands/circuit.h"
#include "app/cli/commands/figure.h"
#include "app/cli/commands/lens.h"
#include "app/cli/commands/sweep.h"
#include "tests/app/command_runs.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

TEST(Vocabulary, ATokenIsATextAnIdOrARank) {
  using By = GivenToken::By;
  const auto token = [](const std::string& text) {
    return parsed<LensCommand>({"lens", "--prompt", "x", "--token", text}).token;
  };
  EXPECT_EQ(token(" it"), (GivenToken{By::text, " it"}));
  EXPECT_EQ(token("text:4"), (GivenToken{By::text, "4"}));
  EXPECT_EQ(token("text:id:4"), (GivenToken{By::text, "id:4"}));
  EXPECT_EQ(token(" 4"), (GivenToken{By::text, " 4"}));
  EXPECT_EQ(token("4."), (GivenToken{By::text, "4."}));
  EXPECT_EQ(token("-1"), (GivenToken{By::text, "-1"}));
  EXPECT_EQ(token("id:4"), (GivenToken{By::id, "", 4}));
  EXPECT_EQ(token("rank:1"), (GivenToken{By::rank, "", 1}));
  for (const char* number : {"4", "0", "464", "99999999999999999999"})
    for (const Words& command :
         {Words{"lens"}, Words{"attribute"}, Words{"sweep"}, Words{"saliency"}, Words{"circuit"},
          Words{"plot", "lens", "--out", "a.svg"}, Words{"plot", "attribution", "--out", "a.svg"},
          Words{"animate", "sweep", "--through", "layer", "--out", "a.png"},
          Words{"trace", "--gradients", "logit", "--out", "a.safetensors"}})
      EXPECT_THAT(wrong_use(command + Words{"--prompt", "x", "--token", number}),
                  AllOf(StartsWith("--token " + std::string(number) +
                                   " could be a text, an id or a rank: give text:"),
                        HasSubstr("id:" + std::string(number))));
  for (const char* wrong : {"", "text:", "id:", "id:-1", "id:x", "rank:0", "rank:"})
    EXPECT_THAT(wrong_use({"attribute", "--prompt", "x", "--token", wrong}), StartsWith("--token")) << wrong;
  EXPECT_THAT(wrong_use({"plot", "sweep", "--prompt", "x", "--out", "a.svg", "--token", "4"}),
              HasSubstr("the position of the prediction is --query"));
}

TEST(Vocabulary, ViewsTakeTheOptionsOfTheCommandsAndTheirOldNames) {
  const auto plot = [](Words more) {
    more.insert(more.begin(), {"plot", "sweep", "--prompt", "x", "--out", "a.svg"});
    return more;
  };
  const auto value = [](const PlotCommand& plotted, const char* name) {
    return to_text(*find_option(name), plotted.options.value(*find_option(name)));
  };
  EXPECT_EQ(value(parsed<PlotCommand>(plot({"--metric", "kl"})), "sweep-metric"), "kl");
  EXPECT_EQ(value(parsed<PlotCommand>(plot({"--sweep-metric", "kl"})), "sweep-metric"), "kl");
  EXPECT_EQ(value(parsed<PlotCommand>(plot({"--sweep-rank", "3"})), "sweep-rank"), "3");
  EXPECT_EQ(value(parsed<PlotCommand>(plot({"--sweep-other-id", "7"})), "sweep-other-id"), "7");
  EXPECT_THAT(wrong_use(plot({"--sweep-rank", "0"})), StartsWith("--sweep-rank takes a whole number from 1"));
  EXPECT_THAT(wrong_use(plot({"--metric", "x"})), StartsWith("--metric takes logit, difference, prob"));
  EXPECT_THAT(wrong_use(plot({"--sweep-metric", "kl", "--metric", "kl"})),
              HasSubstr("--sweep-metric is the old name of --metric"));
  const auto token = parsed<PlotCommand>(plot({"--token", " it"})).tokens;
  ASSERT_EQ(token.size(), 1U);
  EXPECT_EQ(token[0].token, (GivenToken{GivenToken::By::text, " it"}));
  const std::string help = answered({"plot", "sweep", "--help"}).text;
  EXPECT_THAT(help, AllOf(HasSubstr("--metric logit|"), HasSubstr("--token TOKEN"), HasSubstr("rank:N"),
                          Not(HasSubstr("--sweep-metric")), Not(HasSubstr("--sweep-rank"))));
}

using nlohmann::json;

const Words kPrompt{"--prompt", "The king had a daughter"};
const Words kEdit{"--edit", "L3.mlp_out=0"};

json answer(const Words& arguments) {
  return json::parse(succeed(arguments + Words{"--json"}));
}

/// The ids of the three most probable tokens.
std::vector<int> best(const Words& edit = {}) {
  const json made = answer(Words{"predict", "--top", "3"} + kPrompt + edit);
  std::vector<int> ids;
  for (const json& guess : made.at("next")) ids.push_back(guess.at("id"));
  return ids;
}

/// A trace's metric, which its metadata names.
std::string traced(const Words& more) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "a.safetensors").string();
  succeed(Words{"trace", "--hooks", "logits", "--gradients", "difference", "--out", out} + kPrompt + more);
  std::ifstream file(out, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {}), key = "\"gradient_metric\":\"";
  const std::size_t begin = bytes.find(key) + key.size();
  return bytes.substr(begin, bytes.find('"', begin) - begin);
}

TEST(Tokens, TheOtherOneIsTheMostProbableOtherOne) {
  const std::vector<int> ids = best();
  const std::string second = "id:" + std::to_string(ids[1]);
  const std::vector<Words> commands{{"attribute"}, {"saliency"}, {"sweep"}, {"circuit", "--steps", "1"}};
  for (const Words& command : commands) {
    const Words difference = command + kPrompt + Words{"--metric", "difference"};
    const auto others = [&](const Words& more) {
      const json made = answer(difference + more);
      return std::pair<int, int>(made.at("token").at("id"), made.at("other_token").at("id"));
    };
    EXPECT_EQ(others({}), std::pair(ids[0], ids[1])) << command[0];
    EXPECT_EQ(others({"--token", "rank:2"}), std::pair(ids[1], ids[0])) << command[0];
    EXPECT_EQ(others({"--token", second}), std::pair(ids[1], ids[0])) << command[0];
    for (const char* other : {"rank:2", second.c_str()})
      EXPECT_THAT(fail(difference + Words{"--token", "rank:2", "--other-token", other}),
                  HasSubstr("both tokens are the same, so that their logits do not differ"))
          << command[0];
  }
  const auto named = [](int id) { return "(id " + std::to_string(id) + ")"; };
  EXPECT_THAT(traced({"--token", "rank:2"}), HasSubstr(named(ids[1]) + " minus "));
  EXPECT_THAT(traced({"--token", "rank:2"}), HasSubstr(named(ids[0]) + " after"));
  EXPECT_THAT(fail(Words{"trace", "--gradients", "difference", "--token", "rank:2", "--other-token", second,
                         "--out", "none.safetensors"} +
                   kPrompt),
              HasSubstr("both tokens are the same"));
}

TEST(Tokens, TheOtherOneOfAViewIsThatOfItsCommand) {
  const std::vector<int> ids = best();
  const std::string first = "id:" + std::to_string(ids[0]), second = "id:" + std::to_string(ids[1]);
  for (const char* view : {"sweep", "saliency", "circuit_graph"}) {
    const Words plot =
        Words{"plot", view, "--metric", "difference", "--out", "-", "--format", "csv"} + kPrompt;
    EXPECT_EQ(succeed(plot + Words{"--token", "rank:2"}),
              succeed(plot + Words{"--token", second, "--other-token", first}))
        << view;
    EXPECT_EQ(succeed(plot), succeed(plot + Words{"--token", first, "--other-token", second})) << view;
  }
  for (const char* view : {"sweep", "saliency", "circuit_graph", "attribution", "flow"})
    for (const char* other : {"rank:2", second.c_str()})
      EXPECT_THAT(fail({"plot", view, "--prompt", kPrompt[1], "--token", "rank:2", "--other-token", other,
                        "--out", "-", "--format", "csv"}),
                  HasSubstr("both tokens are the same"))
          << view;
}

TEST(Tokens, RanksAreThoseOfTheUneditedRun) {
  const int third = best()[2];
  ASSERT_NE(third, best(kEdit)[2]);
  for (const Words& command : {Words{"attribute"}, Words{"saliency"}, Words{"sweep"},
                               Words{"sweep", "--second", "The king had a son"},
                               Words{"sweep", "--second", "The old king had a son", "--align", "token"}})
    EXPECT_EQ(answer(command + kPrompt + kEdit + Words{"--token", "rank:3"}).at("token").at("id"), third)
        << command.back();
  const auto lens = [](const Words& more) {
    return answer(Words{"lens", "--position", "-1"} + kPrompt + more).at("positions").at(0);
  };
  const json by_rank = lens(kEdit + Words{"--token", "rank:3"});
  EXPECT_EQ(by_rank.at("answer").at("id"), third);
  EXPECT_EQ(by_rank, lens(kEdit + Words{"--token", "id:" + std::to_string(third)}));
  EXPECT_EQ(lens(kEdit).at("answer").at("id"), best(kEdit)[0]) << "the final answer is the run's own";
  EXPECT_THAT(traced(kEdit + Words{"--token", "rank:3"}),
              HasSubstr("(id " + std::to_string(third) + ") minus"));
}

TEST(Vocabulary, WhatHasNoEffectIsRefused) {
  const auto plot = [](const char* view, Words more) {
    more.insert(more.begin(), {"plot", view, "--prompt", "x", "--out", "a.svg"});
    return wrong_use(more);
  };
  EXPECT_THAT(plot("sweep", {"--metric", "kl", "--token", " it"}),
              StartsWith("--token has no effect with --metric kl"));
  EXPECT_THAT(plot("sweep", {"--metric", "kl", "--sweep-rank", "2"}),
              StartsWith("--sweep-rank has no effect with --metric kl"));
  EXPECT_THAT(plot("sweep", {"--metric", "logit", "--other-token", " it"}),
              StartsWith("--other-token has no effect with --metric logit"));
  EXPECT_THAT(plot("sweep", {"--site", "z", "--sweep-over", "senders"}),
              StartsWith("--site has no effect with --sweep-over senders"));
  EXPECT_THAT(plot("flow", {"--other-token", " it", "--flow-minus-mean"}),
              StartsWith("--flow-minus-mean has no effect with --other-token"));
  EXPECT_THAT(plot("flow", {"--against-rank", "2", "--flow-minus-mean"}),
              StartsWith("--flow-minus-mean has no effect with --against-rank 2"));
  EXPECT_THAT(plot("saliency", {"--steps", "8"}),
              StartsWith("--steps has no effect with --method gradient-input"));
  EXPECT_THAT(plot("circuit_graph", {"--metric", "loss", "--token", "a"}),
              StartsWith("--token has no effect with --metric loss"));
  const auto saliency =
      parsed<PlotCommand>({"plot", "saliency", "--prompt", "x", "--out", "a.svg", "--other-token", " it"});
  EXPECT_EQ(saliency.options.value(*find_option("saliency-metric")), OptionValue(1)) << "the difference";
  for (const Words& command : {Words{"sweep"}, Words{"circuit"}}) {
    EXPECT_THAT(wrong_use(command + Words{"--prompt", "x", "--size", "400x300"}),
                StartsWith("--size is for a picture; name its file after --out"));
    EXPECT_THAT(wrong_use(command + Words{"--prompt", "x", "--theme", "dark", "--out", "a.csv"}),
                StartsWith("--theme is for pictures; a csv file has only numbers"));
    EXPECT_THAT(wrong_use(command + Words{"--prompt", "x", "--format", "csv"}),
                StartsWith("--format applies only to --out -"));
    EXPECT_THAT(wrong_use(command + Words{"--prompt", "x", "--no-recipe"}), StartsWith("--no-recipe is for"));
  }
  EXPECT_THAT(wrong_use({"plot", "heatmap", "--prompt", "x", "--out", "a.csv", "--size", "400x300"}),
              StartsWith("--size is for pictures"));
  EXPECT_THAT(wrong_use({"plot", "heatmap", "--prompt", "x", "--out", "a.csv", "--no-title"}),
              StartsWith("--no-title is for pictures"));
  EXPECT_THAT(wrong_use({"plot", "heatmap", "--prompt", "x", "--out", "a.png", "--svg-text"}),
              StartsWith("--svg-text is for SVG files"));
  EXPECT_THAT(wrong_use({"score", "--prompt", "x", "--top", "3", "--json"}), StartsWith("--top is for text"));
  EXPECT_THAT(wrong_use({"metrics", "--prompt", "x", "--seed", "3"}),
              StartsWith("--seed requires --repeated"));
}

TEST(Vocabulary, TheSizeOfACircuitsPictureReachesIt) {
  const auto circuit =
      parsed<CircuitCommand>({"circuit", "--prompt", "x", "--out", "a.png", "--size", "640x480"});
  EXPECT_EQ(circuit.picture.width, 640);
  EXPECT_EQ(circuit.picture.height, 480);
  EXPECT_EQ(
      parsed<SweepCommand>({"sweep", "--prompt", "x", "--out", "a.png", "--for", "column"}).picture.width,
      parsed<PlotCommand>({"plot", "sweep", "--prompt", "x", "--out", "a.png", "--for", "column"})
          .picture.width);
}

}  // namespace
}  // namespace headscope::app
