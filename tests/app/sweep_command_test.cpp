// headscope sweep: its arguments, and its output compared with single edits of predict.
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/engine.h"
#include "app/run/recompute.h"
#include "model/files/error.h"
#include "tests/app/command_runs.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::sweep_command_test {
namespace {

using nlohmann::json;

const Words kSweep{"sweep", "--prompt", "x"};
SweepCommand parsed(const Words& arguments) {
  return testing::parsed<SweepCommand>(kSweep + arguments);
}

constexpr const char* kPrompt = "Once upon a time there was a king who had a daughter, and the king";

/// The logit that predict prints for a token under an edit.
double logit(const std::string& edit, int id) {
  Words arguments{"predict", "--prompt", kPrompt, "--json", "--top", "4096"};
  if (!edit.empty()) arguments.insert(arguments.end(), {"--edit", edit});
  const json answer = json::parse(succeed(arguments));
  for (const json& guess : answer.at("next"))
    if (guess.at("id") == id) return guess.at("logit");
  ADD_FAILURE() << "no guess " << id;
  return 0;
}

/// With one edit.
Engine edited_engine() {
  Arguments given;
  given.prompt.edits.texts = {"L0H0.z=0"};
  std::istringstream in;
  std::ostringstream out, err;
  return start_engine(given, {in, out, err});
}

TEST(Tokens, GivenByTheirIdsNeedNoLogits) {
  Engine engine = edited_engine();
  PromptRun run = run_prompt(engine, {.text = kPrompt, .ids = {}}, "");
  ASSERT_TRUE(run.run->plan);
  run.model = nullptr;  // whose unedited run would have them
  TokenChoice token = TokenChoice::of(3), against = TokenChoice::of(5);
  name_by_id(token, against, run, -1, engine, "");
  EXPECT_EQ(token, TokenChoice::of(3));
  EXPECT_EQ(against, TokenChoice::of(5));
  against = TokenChoice::of(1 << 20);
  EXPECT_THROW(name_by_id(token, against, run, -1, engine, ""), model::RunError);
}

TEST(Tokens, AnUneditedRunIsMadeOnce) {
  Engine engine = edited_engine();
  PromptRun run = run_prompt(engine, {.text = kPrompt, .ids = {}}, "");
  const auto second = run_second(engine, {.text = "Once upon a time", .ids = {}}, "");
  compare_with(run, second, Alignment::position);
  const auto made = unedited_run(run, engine.workspace, {});
  EXPECT_NE(made, unedited_run(run, engine.workspace, {}));
  EXPECT_EQ(made->plan, nullptr);
  run.unedited = made;
  EXPECT_EQ(unedited_run(run, engine.workspace, {}), made);
}

TEST(SweepCommand, IsParsed) {
  const SweepCommand defaults = parsed({});
  EXPECT_EQ(defaults.measured.metric, SweepMetric::difference);
  EXPECT_EQ(defaults.over, SweepOver::heads);
  EXPECT_EQ(defaults.edit, SweepEdit::zero);
  EXPECT_EQ(defaults.site, model::Site::z);
  const SweepCommand full =
      parsed({"--metric", "difference", "--sweep-over", "layer-position", "--ablate", "mean",       "--site",
              "mlp_out",  "--token",    " it",          "--other-token",  "id:5",     "--position", "0",
              "--out",    "a.svg",      "--size",       "700x500",        "--edit",   "L1H1.z=0"});
  EXPECT_EQ(full.over, SweepOver::positions);
  EXPECT_EQ(full.edit, SweepEdit::mean);
  EXPECT_EQ(full.site, model::Site::mlp_out);
  EXPECT_EQ(full.measured.token, (GivenToken{GivenToken::By::text, " it"}));
  EXPECT_EQ(full.measured.other_token, (GivenToken{GivenToken::By::id, "", 5}));
  EXPECT_EQ(full.measured.position, 0);
  EXPECT_EQ(full.picture.width, 700);
  EXPECT_EQ(parsed({"--sweep-over", "layer-position"}).site, model::Site::resid_pre);
  const SweepCommand patch = parsed({"--second", "y"});
  EXPECT_EQ(patch.edit, SweepEdit::patch);
  EXPECT_EQ(patch.comparison.second, "y");
  EXPECT_EQ(parsed({"--ablate", "mean", "--mean-over", "l.txt"}).edit, SweepEdit::list_mean);
}

TEST(SweepCommand, EveryCellIsWhatPredictSaysUnderTheEdit) {
  const json answer = json::parse(succeed({"sweep", "--prompt", kPrompt, "--json"}));
  const int token = answer.at("token").at("id"), other = answer.at("other_token").at("id");
  EXPECT_EQ(answer.at("metric"), "difference");
  EXPECT_EQ(answer.at("site"), "attn.hook_z");
  EXPECT_EQ(answer.at("position"), 15);
  EXPECT_EQ(answer.at("tokens").size(), 16U);
  const double before = logit("", token) - logit("", other);
  EXPECT_NEAR(answer.at("before"), before, 1e-5);
  ASSERT_EQ(answer.at("changes").size(), 6U);
  for (const auto& [layer, head] : {std::pair(0, 0), std::pair(2, 5), std::pair(5, 7)}) {
    const std::string edit = "L" + std::to_string(layer) + "H" + std::to_string(head) + ".z=0";
    EXPECT_NEAR(answer["changes"][layer][head], logit(edit, token) - logit(edit, other) - before, 1e-5);
  }
}

TEST(SweepCommand, HeadsAtPositionsAreNestedByHead) {
  const Words arguments{
      "sweep", "--prompt", kPrompt, "--sweep-over", "head-position", "--metric", "logit", "--position",
      "6",     "--site",   "v"};
  const json answer = json::parse(succeed(arguments + Words{"--json", "--estimates", "also"}));
  const json& changes = answer.at("changes");
  ASSERT_EQ(changes.size(), 6U);
  ASSERT_EQ(changes[0].size(), 8U);
  ASSERT_EQ(changes[5][7].size(), 7U);
  EXPECT_EQ(answer.at("estimates")[5][7].size(), 7U);
  const std::vector<std::string> lines = lines_of(succeed(arguments));
  EXPECT_EQ(lines.size(), 1 + 6 * 8 * 7 + 1U);
  EXPECT_THAT(lines, Contains(HasSubstr("L4 H6 at 6  ")));
}

TEST(SweepCommand, LaterPositionsAreSweptWhereTheyAct) {
  const Words arguments{"sweep",      "--prompt", kPrompt,  "--sweep-over", "layer-position",
                        "--position", "6",        "--edit", "mask=none"};
  const json answer = json::parse(succeed(arguments + Words{"--json"}));
  ASSERT_EQ(answer.at("changes")[0].size(), 16U);
  EXPECT_NE(answer["changes"][0][15], 0.0);
  EXPECT_THAT(succeed(arguments), HasSubstr("L0 at 15  "));
}

TEST(SweepCommand, NeuronsAreThoseWithTheLargestEstimates) {
  const Words arguments{"sweep", "--prompt", kPrompt, "--sweep-over", "neurons", "--metric", "logit"};
  const json answer = json::parse(succeed(arguments + Words{"--json", "--top", "20"}));
  EXPECT_FALSE(answer.contains("changes"));
  const json& neurons = answer.at("neurons");
  ASSERT_EQ(neurons.size(), 20U);
  double last = std::numeric_limits<double>::infinity();
  for (const json& neuron : neurons) {
    const double change = std::abs(neuron.at("change").get<double>());
    EXPECT_LE(change, last) << "the strongest first";
    last = change;
  }
  const json estimated =
      json::parse(succeed(arguments + Words{"--json", "--top", "20", "--estimates", "only"}));
  ASSERT_EQ(estimated.at("neurons").size(), 20U);
  EXPECT_FALSE(estimated["neurons"][0].contains("change"));
  EXPECT_EQ(lines_of(succeed(arguments)).size(), 1 + 64 + 2U);
}

TEST(SweepCommand, EveryPathIsWhatPredictSaysUnderItsEdit) {
  const Words arguments{"sweep", "--prompt", kPrompt, "--sweep-over", "senders", "--receiver", "L3H2.k"};
  const json answer = json::parse(succeed(arguments + Words{"--json"}));
  const int token = answer.at("token").at("id"), other = answer.at("other_token").at("id");
  EXPECT_EQ(answer.at("receiver"), "L3H2.k");
  const double before = logit("", token) - logit("", other);
  const json& changes = answer.at("changes");
  ASSERT_EQ(changes.size(), 6U);
  ASSERT_EQ(changes[0].size(), 9U) << "eight heads and the MLP";
  for (const auto& [layer, column, sender] : {std::tuple(0, 0, "L0H0.z"), std::tuple(1, 8, "L1.mlp_out")}) {
    const std::string edit = std::string(sender) + "=0 -> L3H2.k";
    EXPECT_NEAR(changes[layer][column], logit(edit, token) - logit(edit, other) - before, 1e-5);
  }
  EXPECT_TRUE(changes[3][0].is_null()) << "not before the receiver";
  EXPECT_EQ(lines_of(succeed(arguments)).size(), 1 + 3 * 9 + 1U);
}

TEST(SweepCommand, WritesEstimatesBesidesTheExactDifferencesOrAlone) {
  const Words arguments{"sweep", "--prompt", kPrompt, "--json"};
  const json exact = json::parse(succeed(arguments)),
             both = json::parse(succeed(arguments + Words{"--estimates", "also"})),
             alone = json::parse(succeed(arguments + Words{"--estimates", "only"}));
  EXPECT_FALSE(exact.contains("estimates"));
  EXPECT_EQ(both.at("changes"), exact.at("changes"));
  EXPECT_EQ(both.at("estimates"), alone.at("estimates"));
  EXPECT_FALSE(alone.contains("changes"));
  EXPECT_GT(both.at("rank_correlation"), 0.9) << "single heads are nearly linear";
}

TEST(SweepCommand, ListsTheStrongestFirst) {
  const std::vector<std::string> lines =
      lines_of(succeed({"sweep", "--prompt", kPrompt, "--sweep-over", "layer-position", "--metric", "logit",
                        "--position", "3", "--site", "attn_out"}));
  ASSERT_EQ(lines.size(), 1 + 6 * 4 + 1U) << "a title, the cells, the logit in this run";
  double last = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i <= 6 * 4; ++i) {
    const double change = std::abs(std::stod(lines[i]));
    EXPECT_LE(change, last);
    last = change;
  }
}

TEST(SweepCommand, WritesPicturesAndNumbers) {
  const auto written = [&](const char* format, const Words& more) {
    return succeed(Words{"sweep", "--prompt", "The king had a daughter", "--out", "-", "--format", format} +
                   more);
  };
  EXPECT_THAT(written("png", {"--second", "The king had a son"}), StartsWith("\x89PNG"));
  EXPECT_THAT(written("svg", {"--sweep-over", "layer-position", "--size", "600x400"}), HasSubstr("<svg"));
  for (const auto& [over, heading, rows] :
       {std::tuple("heads", "layer,head,", 6 * 8 + 2),
        {"senders", "layer,sender,", 6 * 9 + 1},
        {"mlps", "layer,edit,", 6 + 2},
        {"head-position", "layer,head,position,token,edit,", 6 * 8 * 5 + 2},
        {"neurons", "layer,neuron,edit,", 64 + 2}}) {
    const std::string csv = written("csv", {"--sweep-over", over});
    EXPECT_THAT(csv, StartsWith(heading));
    EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + rows)
        << over << ", the unedited metric, the rank correlation";
  }
}

TEST(SweepCommand, OfManyPrompts) {
  const std::string lines = "\"The king had a daughter\"\n{\"prompt\":\"Once upon a time\"}\n";
  std::istringstream out(succeed({"sweep", "--prompts", "-", "--json", "--edit", "L0H0.z=0"}, lines));
  std::string line;
  std::vector<json> answers;
  while (std::getline(out, line)) answers.push_back(json::parse(line));
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].at("position"), 4);
  EXPECT_EQ(answers[1].at("position"), 3);
  EXPECT_EQ(answers[1].at("changes")[0][0], 0) << "it is off already";
}

}  // namespace
}  // namespace headscope::app::sweep_command_test
