// The words that commands and views share: tokens, metrics and second prompts, and that what
// has no effect is refused.
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/figure.h"
#include "tests/app/command_runs.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::vocabulary_test {
namespace {

TEST(Vocabulary, ATokenIsATextAnIdOrARank) {
  using By = GivenToken::By;
  const auto token = [](const std::string& text) {
    return parsed<LensCommand>({"lens", "--prompt", "x", "--token", text}).token;
  };
  EXPECT_EQ(token(" it"), (GivenToken{By::text, " it"}));
  EXPECT_EQ(token("text:4"), (GivenToken{By::text, "4"}));
  EXPECT_EQ(token("text:id:4"), (GivenToken{By::text, "id:4"}));
  EXPECT_EQ(token("-1"), (GivenToken{By::text, "-1"}));
  EXPECT_EQ(token("id:4"), (GivenToken{By::id, "", 4}));
  EXPECT_EQ(token("rank:1"), (GivenToken{By::rank, "", 1}));
  for (const char* number : {"4", "99999999999999999999"})
    for (const Words& command : {Words{"lens"}, Words{"sweep"}, Words{"plot", "lens", "--out", "a.svg"},
                                 Words{"trace", "--gradients", "logit", "--out", "a.safetensors"}})
      EXPECT_THAT(wrong_use(command + Words{"--prompt", "x", "--token", number}),
                  StartsWith("--token " + std::string(number) + " could be a text, an id or a rank"));
  for (const char* wrong : {"", "text:", "id:", "id:-1", "id:x", "rank:0", "rank:"})
    EXPECT_THAT(wrong_use({"attribute", "--prompt", "x", "--token", wrong}), StartsWith("--token")) << wrong;
}

/// The value of a view's option in a command.
std::string value_in(const Arguments& command, const char* name) {
  return to_text(*find_option(name), command.options.value(*find_option(name)));
}

TEST(Vocabulary, ViewsTakeTheOptionsOfTheCommands) {
  const Words plot{"plot", "sweep", "--prompt", "x", "--out", "a.svg"};
  EXPECT_EQ(value_in(parsed<PlotCommand>(plot + Words{"--metric", "kl"}), "sweep-metric"), "kl");
  EXPECT_THAT(wrong_use(plot + Words{"--metric", "x"}), StartsWith("--metric takes logit, difference, prob"));
  const auto token = parsed<PlotCommand>(plot + Words{"--token", " it"}).tokens;
  ASSERT_EQ(token.size(), 1U);
  EXPECT_EQ(token[0].token, (GivenToken{GivenToken::By::text, " it"}));
}

TEST(Vocabulary, AWindowTakesTheOptionsOfItsViewsByTheirFlags) {
  const auto shot = [](const Words& more) { return Words{"shot", "--out", "a.png"} + more; };
  const auto of = [&](const Words& more) { return parsed<ShotCommand>(shot(more)); };
  EXPECT_EQ(value_in(of({"--metric", "loss", "--view", "saliency"}), "saliency-metric"), "loss");
  EXPECT_EQ(
      value_in(of({"--view", "heatmap", "--beside", "circuit_graph", "--metric", "loss"}), "circuit-metric"),
      "loss");
  // Where a flag could mean two options, it is their own names that do.
  EXPECT_THAT(
      wrong_use(shot({"--view", "sweep", "--beside", "saliency", "--metric", "logit"})),
      StartsWith("--metric is an option of sweep and saliency: give --sweep-metric or --saliency-metric"));
  const auto both =
      of({"--view", "sweep", "--beside", "saliency", "--sweep-metric", "kl", "--saliency-metric", "loss"});
  EXPECT_EQ(value_in(both, "sweep-metric"), "kl");
  EXPECT_EQ(value_in(both, "saliency-metric"), "loss");
  EXPECT_THAT(wrong_use(shot({"--view", "heatmap", "--steps", "2"})), HasSubstr("none of which is shown"));
  const auto tokens = of({"--view", "sweep", "--other-token", " it", "--token", "rank:3"});
  ASSERT_EQ(tokens.tokens.size(), 2U);
  const auto other = std::ranges::find(tokens.tokens, true, &ViewToken::other);
  ASSERT_NE(other, tokens.tokens.end());
  EXPECT_EQ(other->token, (GivenToken{GivenToken::By::text, " it"}));
  EXPECT_EQ(value_in(of({"--view", "saliency", "--other-token", " it"}), "saliency-metric"), "difference");
}

TEST(Vocabulary, ASecondPromptIsPatchedFromUnlessAnAblationIsAskedFor) {
  const auto edit_of = [](Words command, const Words& more) {
    command = command + Words{"--out", "a.png"} + more;
    return command[0] == "shot" ? value_in(parsed<ShotCommand>(command), "sweep-change")
                                : value_in(parsed<PlotCommand>(command), "sweep-change");
  };
  for (const Words& command :
       {Words{"plot", "sweep", "--prompt", "x"}, Words{"shot", "--view", "sweep", "--prompt", "x"}}) {
    EXPECT_EQ(edit_of(command, {}), "zero");
    EXPECT_EQ(edit_of(command, {"--second", "y"}), "patch");
    EXPECT_EQ(edit_of(command, {"--second-model", "y"}), "patch");
    EXPECT_EQ(edit_of(command, {"--second", "y", "--sweep-change", "mean"}), "mean");
    EXPECT_EQ(edit_of(command, {"--second", "y", "--sweep-change", "zero"}), "zero");
    EXPECT_EQ(edit_of(command, {"--second", "y", "--show", "baseline"}), "zero") << "which has no source";
  }
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
  for (const char* view : {"sweep", "saliency"}) {
    const Words plot =
        Words{"plot", view, "--metric", "difference", "--out", "-", "--format", "csv"} + kPrompt;
    EXPECT_EQ(succeed(plot + Words{"--token", "rank:2"}),
              succeed(plot + Words{"--token", second, "--other-token", first}))
        << view;
    EXPECT_THAT(fail(plot + Words{"--token", "rank:2", "--other-token", second}),
                HasSubstr("both tokens are the same"));
  }
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
  for (const auto& [view, options] :
       std::vector<std::pair<const char*, Words>>{{"sweep", {"--token", " it", "--metric", "kl"}},
                                                  {"sweep", {"--other-token", " it", "--metric", "logit"}},
                                                  {"sweep", {"--site", "z", "--sweep-over", "senders"}},
                                                  {"flow", {"--flow-minus-mean", "--other-token", " it"}},
                                                  {"saliency", {"--steps", "8"}},
                                                  {"circuit_graph", {"--token", "a", "--metric", "loss"}}})
    EXPECT_THAT(wrong_use(Words{"plot", view, "--prompt", "x", "--out", "a.svg"} + options),
                StartsWith(options[0] + " has no effect with "));
  for (const Words& wrong :
       {Words{"--size", "400x300"}, Words{"--theme", "dark", "--out", "a.csv"}, Words{"--format", "csv"}})
    EXPECT_THAT(wrong_use(Words{"sweep", "--prompt", "x"} + wrong), StartsWith(wrong[0]));
  for (const Words& wrong : {Words{"--size", "400x300", "--out", "a.csv"},
                             Words{"--no-title", "--out", "a.csv"}, Words{"--svg-text", "--out", "a.png"}})
    EXPECT_THAT(wrong_use(Words{"plot", "heatmap", "--prompt", "x"} + wrong),
                StartsWith(wrong[0] + " is for "));
  EXPECT_THAT(wrong_use({"score", "--prompt", "x", "--top", "3", "--json"}), StartsWith("--top is for text"));
  EXPECT_THAT(wrong_use({"metrics", "--prompt", "x", "--seed", "3"}),
              StartsWith("--seed requires --repeated"));
}

}  // namespace
}  // namespace headscope::app::vocabulary_test
