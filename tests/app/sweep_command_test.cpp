// headscope sweep: its arguments, and its output compared with single edits of predict.
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/arguments/command.h"
#include "app/cli/commands/engine.h"
#include "app/cli/commands/sweep.h"
#include "app/cli/program.h"
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
std::string wrong_use(const Words& arguments) {
  return testing::wrong_use(kSweep + arguments);
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

TEST(SweepCommand, SaysWhatIsEdited) {
  const auto heading = [](const Words& more) {
    return lines_of(succeed(Words{"sweep", "--prompt", "The old king"} + more)).front();
  };
  EXPECT_THAT(heading({}), StartsWith("Each head zeroed: logit of "));
  EXPECT_THAT(heading({"--sweep-over", "mlps", "--ablate", "mean"}),
              StartsWith("Each MLP replaced by its mean: logit of "));
  EXPECT_THAT(heading({"--sweep-over", "mlps", "--second", "The old queen"}),
              StartsWith("Each MLP patched from the second prompt: logit of "));
  EXPECT_THAT(heading({"--sweep-over", "neurons", "--top", "2"}),
              StartsWith("Neurons with the largest estimated effect, each zeroed: logit of "));
}

TEST(SweepCommand, IsParsed) {
  const SweepCommand defaults = parsed({});
  EXPECT_EQ(defaults.measured.metric, SweepMetric::difference);
  EXPECT_EQ(defaults.over, SweepOver::heads);
  EXPECT_EQ(defaults.edit, SweepEdit::zero);
  EXPECT_EQ(defaults.site, model::Site::z);
  EXPECT_FALSE(defaults.measured.position || defaults.second || defaults.json);
  const SweepCommand full =
      parsed({"--metric", "difference", "--over", "layer-position", "--ablate", "mean",       "--site",
              "mlp_out",  "--token",    " it",    "--other-token",  "id:5",     "--position", "0",
              "--json",   "--out",      "a.svg",  "--size",         "700x500",  "--edit",     "L1H1.z=0"});
  EXPECT_EQ(full.measured.metric, SweepMetric::difference);
  EXPECT_EQ(full.over, SweepOver::positions);
  EXPECT_EQ(full.edit, SweepEdit::mean);
  EXPECT_EQ(full.site, model::Site::mlp_out);
  EXPECT_EQ(full.measured.token, (GivenToken{GivenToken::By::text, " it"}));
  EXPECT_EQ(full.measured.other_token, (GivenToken{GivenToken::By::id, "", 5}));
  EXPECT_EQ(full.measured.position, 0);
  EXPECT_EQ(full.out.file, "a.svg");
  EXPECT_EQ(full.picture.width, 700);
  EXPECT_EQ(full.prompt.edits.texts, Words{"L1H1.z=0"});
  EXPECT_EQ(parsed({"--over", "layer-position"}).site, model::Site::resid_pre);
  const SweepCommand patch = parsed({"--second", "y"});
  EXPECT_EQ(patch.edit, SweepEdit::patch);
  EXPECT_EQ(patch.second, "y");
  EXPECT_EQ(parsed({"--from", "y"}).second, "y") << "the old name";
  const SweepCommand list = parsed({"--ablate", "mean", "--mean-over", "l.txt"});
  EXPECT_EQ(list.edit, SweepEdit::list_mean);
  EXPECT_EQ(list.prompt.edits.mean_over, "l.txt");
}

TEST(SweepCommand, WrongUseIsOneSentence) {
  EXPECT_THAT(wrong_use({"--metric", "x"}),
              StartsWith("--metric takes logit, difference, probability or kl, not \"x\""));
  EXPECT_THAT(wrong_use({"--over", "x"}),
              StartsWith("--over takes heads, layer-position, senders, head-position, mlps or neurons, not"));
  EXPECT_THAT(wrong_use({"--ablate", "x"}), StartsWith("--ablate takes zero or mean, not"));
  EXPECT_THAT(wrong_use({"--site", "x"}),
              StartsWith("--site takes resid_pre, attn_out, mlp_out, z, q, k, v or pattern, not"));
  EXPECT_THAT(wrong_use({"--site", "mlp_out"}),
              StartsWith("heads have no site mlp_out to edit: choose z, q, k, v or pattern"));
  EXPECT_THAT(wrong_use({"--over", "layer-position", "--site", "pattern"}),
              StartsWith("layers at positions have no site pattern to edit: choose resid_pre, attn_out"));
  EXPECT_THAT(wrong_use({"--site", "pattern", "--ablate", "mean"}),
              StartsWith("patterns have no mean over positions: zero or patch them"));
  EXPECT_THAT(wrong_use({"--ablate", "mean", "--second", "y"}), StartsWith("one kind of edit at a time"));
  EXPECT_THAT(wrong_use({"--mean-over", "l.txt"}),
              StartsWith("--mean-over requires --ablate mean, or an edit"));
  EXPECT_THAT(wrong_use({"--align", "token"}), StartsWith("--align requires --second"));
  EXPECT_THAT(wrong_use({"--token", ""}),
              StartsWith("--token is empty: give a token's text, or id:N or rank:N"));
  EXPECT_THAT(wrong_use({"--out", "a.gif"}), StartsWith("the file after --out must end in"));
  EXPECT_THAT(wrong_use({"--metric", "kl", "--token", " it"}),
              StartsWith("--metric kl names no token; --token does not apply"));
  EXPECT_THAT(wrong_use({"--metric", "kl", "--other-token", " it"}),
              StartsWith("--metric kl names no token; --other-token does not apply"));
  EXPECT_THAT(wrong_use({"--metric", "probability", "--other-token", " it"}),
              StartsWith("--other-token requires --metric difference"));
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

TEST(SweepCommand, EverySiteIsWhatPredictSaysUnderTheEdit) {
  const std::string second = "Once upon a time there was a dog who had a daughter, and the dog";
  for (const std::string site : {"q", "k", "v", "pattern"})
    for (const bool patched : {false, true}) {
      SCOPED_TRACE(site);
      Words arguments{"sweep", "--prompt", kPrompt, "--json", "--metric", "logit", "--site", site};
      if (patched) arguments.insert(arguments.end(), {"--second", second});
      const json answer = json::parse(succeed(arguments));
      EXPECT_EQ(answer.at("site"), "attn.hook_" + site);
      const int token = answer.at("token").at("id");
      for (const auto& [layer, head] : {std::pair(0, 3), std::pair(4, 6)}) {
        const std::string edit = "L" + std::to_string(layer) + "H" + std::to_string(head) + "." + site +
                                 (patched ? "<-\"" + second + "\"" : "=0");
        EXPECT_NEAR(answer["changes"][layer][head], logit(edit, token) - logit("", token), 1e-5);
      }
    }
  EXPECT_THAT(fail({"sweep", "--prompt", "The king had a son", "--second", "The old king had a son",
                    "--align", "token", "--site", "pattern"}),
              HasSubstr("a pattern is patched from equal positions only"));
}

TEST(SweepCommand, HeadsAtPositionsAreNestedByHead) {
  const Words arguments{"sweep",      "--prompt", kPrompt,  "--over", "head-position", "--metric", "logit",
                        "--position", "6",        "--site", "v"};
  const json answer = json::parse(succeed(arguments + Words{"--json", "--estimates", "also"}));
  EXPECT_EQ(answer.at("over"), "head-position");
  const json& changes = answer.at("changes");
  ASSERT_EQ(changes.size(), 6U);
  ASSERT_EQ(changes[0].size(), 8U);
  ASSERT_EQ(changes[5][7].size(), 7U);
  EXPECT_EQ(answer.at("estimates")[5][7].size(), 7U);
  const int token = answer.at("token").at("id");
  // predict measures the last position: a prompt up to the measured one
  const json whole = json::parse(succeed({"sweep", "--prompt", kPrompt, "--over", "head-position", "--metric",
                                          "logit", "--token", "id:" + std::to_string(token), "--json"}));
  for (const auto& [layer, head, position] : {std::tuple(1, 3, 2), std::tuple(4, 6, 15)}) {
    const std::string edit =
        "L" + std::to_string(layer) + "H" + std::to_string(head) + ".z[" + std::to_string(position) + "]=0";
    EXPECT_NEAR(whole["changes"][layer][head][position], logit(edit, token) - logit("", token), 1e-5);
  }
  const std::vector<std::string> lines = lines_of(succeed(arguments));
  EXPECT_EQ(lines.size(), 1 + 6 * 8 * 7 + 1U);
  EXPECT_THAT(lines, Contains(HasSubstr("L4 H6 at 6  ")));
}

TEST(SweepCommand, EveryMlpIsWhatPredictSaysUnderItsEdit) {
  const Words arguments{"sweep", "--prompt", kPrompt, "--over", "mlps", "--metric", "logit"};
  const json answer = json::parse(succeed(arguments + Words{"--json"}));
  EXPECT_EQ(answer.at("site"), "hook_mlp_out");
  const int token = answer.at("token").at("id");
  ASSERT_EQ(answer.at("changes").size(), 6U);
  for (const int layer : {0, 4}) {
    ASSERT_EQ(answer["changes"][layer].size(), 1U);
    EXPECT_NEAR(answer["changes"][layer][0],
                logit("L" + std::to_string(layer) + ".mlp_out=0", token) - logit("", token), 1e-5);
  }
  EXPECT_THAT(lines_of(succeed(arguments)), Contains(EndsWith("  L0 MLP")));
}

TEST(SweepCommand, NeuronsAreThoseWithTheLargestEstimates) {
  const Words arguments{"sweep", "--prompt", kPrompt, "--over", "neurons", "--metric", "logit"};
  const json answer = json::parse(succeed(arguments + Words{"--json", "--top", "20"}));
  EXPECT_EQ(answer.at("site"), "mlp.hook_post");
  EXPECT_FALSE(answer.contains("changes"));
  const json& neurons = answer.at("neurons");
  ASSERT_EQ(neurons.size(), 20U);
  const int token = answer.at("token").at("id");
  double last = std::numeric_limits<double>::infinity();
  for (const json& neuron : neurons) {
    const double change = std::abs(neuron.at("change").get<double>());
    EXPECT_LE(change, last) << "the strongest first";
    last = change;
    EXPECT_EQ(neuron.at("estimate").get<double>() > 0, neuron.at("change").get<double>() > 0);
  }
  for (const std::size_t i : {0U, 19U}) {
    const std::string edit = "L" + std::to_string(neurons[i].at("layer").get<int>()) + ".mlp_post[*][" +
                             std::to_string(neurons[i].at("neuron").get<int>()) + "]=0";
    EXPECT_NEAR(neurons[i].at("change"), logit(edit, token) - logit("", token), 1e-5);
  }
  EXPECT_TRUE(answer.contains("rank_correlation"));
  const json estimated =
      json::parse(succeed(arguments + Words{"--json", "--top", "20", "--estimates", "only"}));
  ASSERT_EQ(estimated.at("neurons").size(), 20U);
  last = std::numeric_limits<double>::infinity();
  for (const json& neuron : estimated["neurons"]) {
    EXPECT_FALSE(neuron.contains("change"));
    const double estimate = std::abs(neuron.at("estimate").get<double>());
    EXPECT_LE(estimate, last) << "the largest estimate first";
    last = estimate;
  }
  EXPECT_EQ(lines_of(succeed(arguments)).size(), 1 + 64 + 2U);
  EXPECT_THAT(wrong_use({"--top", "5"}), StartsWith("--top requires --sweep-over neurons"));
  EXPECT_THAT(wrong_use({"--over", "neurons", "--metric", "kl"}),
              StartsWith("neurons are chosen by estimates, which KL does not have"));
  EXPECT_THAT(wrong_use({"--over", "neurons", "--site", "z"}),
              StartsWith("--site does not apply to --sweep-over neurons"));
  EXPECT_THAT(wrong_use({"--over", "head-position", "--site", "pattern"}),
              StartsWith("heads at positions have no site pattern to edit: choose z, q, k or v"));
}

TEST(SweepCommand, EveryPathIsWhatPredictSaysUnderItsEdit) {
  const Words arguments{"sweep", "--prompt", kPrompt, "--sweep-over", "senders", "--receiver", "L3H2.k"};
  const json answer = json::parse(succeed(arguments + Words{"--json"}));
  const int token = answer.at("token").at("id"), other = answer.at("other_token").at("id");
  EXPECT_EQ(answer.at("over"), "senders");
  EXPECT_EQ(answer.at("receiver"), "L3H2.k");
  EXPECT_FALSE(answer.contains("site"));
  const double before = logit("", token) - logit("", other);
  const json& changes = answer.at("changes");
  ASSERT_EQ(changes.size(), 6U);
  ASSERT_EQ(changes[0].size(), 9U) << "eight heads and the MLP";
  for (const auto& [layer, column, sender] :
       {std::tuple(0, 0, "L0H0.z"), std::tuple(2, 5, "L2H5.z"), std::tuple(1, 8, "L1.mlp_out")}) {
    const std::string edit = std::string(sender) + "=0 -> L3H2.k";
    EXPECT_NEAR(changes[layer][column], logit(edit, token) - logit(edit, other) - before, 1e-5);
  }
  EXPECT_TRUE(changes[3][0].is_null()) << "not before the receiver";
  const std::vector<std::string> lines = lines_of(succeed(arguments));
  EXPECT_THAT(lines.front(), EndsWith("; direct paths into L3 H2 k"));
  EXPECT_EQ(lines.size(), 1 + 3 * 9 + 1U);
  EXPECT_THAT(lines, Contains(EndsWith("L1 MLP")));
  const json patched = json::parse(succeed({"sweep", "--prompt", "The king had a daughter", "--second",
                                            "The king had a son", "--over", "senders", "--json"}));
  EXPECT_EQ(patched.at("receiver"), "logits");
  EXPECT_EQ(patched.at("change"), "patch");
  EXPECT_NE(patched.at("changes")[5][8], 0);
}

TEST(SweepCommand, AWrongReceiverIsOneSentence) {
  for (const char* receiver : {"L3H2.q[3]", "logits[2]"})
    EXPECT_THAT(fail({"sweep", "--prompt", kPrompt, "--sweep-over", "senders", "--receiver", receiver}),
                HasSubstr("takes no positions or units"));
  EXPECT_THAT(wrong_use({"--receiver", "L3H2.k"}), StartsWith("--receiver requires --sweep-over senders"));
  EXPECT_THAT(wrong_use({"--over", "senders", "--estimates", "also"}),
              StartsWith("--estimates has none of --sweep-over senders"));
  EXPECT_THAT(wrong_use({"--over", "senders", "--site", "z"}), StartsWith("--site does not apply to"));
  const auto said = [](const char* receiver) {
    return fail({"sweep", "--prompt", "The king", "--over", "senders", "--receiver", receiver});
  };
  EXPECT_THAT(said("L3H2"), HasSubstr("the receiver \"L3H2\" cannot be read: expected \".\" at the end"));
  EXPECT_THAT(said("L3H2.k<-"), HasSubstr("unexpected \"<-\""));
  EXPECT_THAT(said("L3H2.z"), HasSubstr("only q, k, v and the logits"));
  EXPECT_THAT(said("L9H2.q"), HasSubstr("names layer 9"));
  EXPECT_THAT(said("L0H2.q"), HasSubstr("nothing sends to layer 0"));
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
  EXPECT_FALSE(alone.contains("rank_correlation"));
  EXPECT_GT(both.at("rank_correlation"), 0.9) << "single heads are nearly linear";
  for (std::size_t head = 0; head < 8; ++head)
    EXPECT_NEAR(both["estimates"][5][head], both["changes"][5][head], 0.02) << "of the last layer";
  const Words text{"sweep", "--prompt", kPrompt, "--estimates"};
  EXPECT_THAT(succeed(text + Words{"also"}),
              HasSubstr("rank correlation of estimates and exact differences"));
  EXPECT_THAT(lines_of(succeed(text + Words{"only"})).front(), EndsWith(": first-order estimates"));
  EXPECT_THAT(
      wrong_use({"--estimates", "only", "--out", "a.png"}),
      StartsWith("--estimates only is for text and JSON; pictures and csv have the exact differences"));
  EXPECT_THAT(wrong_use({"--estimates", "x"}), StartsWith("--estimates takes also or only, not"));
  EXPECT_THAT(wrong_use({"--estimates", "also", "--metric", "kl"}),
              StartsWith("--estimates has none of --metric kl: KL is smallest at the run itself"));
}

TEST(SweepCommand, ListsTheStrongestFirst) {
  std::istringstream lines(succeed({"sweep", "--prompt", kPrompt, "--over", "layer-position", "--metric",
                                    "logit", "--position", "3", "--site", "attn_out"}));
  std::string line;
  std::getline(lines, line);
  EXPECT_THAT(line, StartsWith("attn_out zeroed, by layer and position: logit of "));
  EXPECT_THAT(line, HasSubstr("after position 3"));
  double last = std::numeric_limits<double>::infinity();
  int count = 0;
  while (std::getline(lines, line) && line.find("in this run") == std::string::npos) {
    const double change = std::abs(std::stod(line));
    EXPECT_LE(change, last);
    last = change;
    ++count;
  }
  EXPECT_EQ(count, 6 * 4);
}

TEST(SweepCommand, PatchesFromAPromptAsLong) {
  const Words arguments{"sweep", "--prompt", "The king had a daughter", "--json", "--metric", "kl"};
  const auto with = [&](const Words& more) {
    Words all = arguments;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const json same = json::parse(succeed(with({"--second", "The king had a daughter"})));
  const json other = json::parse(succeed(with({"--second", "The king had a son"})));
  EXPECT_EQ(same.at("change"), "patch");
  double most_same = 0, most_other = 0;
  for (std::size_t layer = 0; layer < 6; ++layer)
    for (std::size_t head = 0; head < 8; ++head) {
      most_same = std::max<double>(most_same, same["changes"][layer][head]);
      most_other = std::max<double>(most_other, other["changes"][layer][head]);
    }
  EXPECT_EQ(most_same, 0) << "nothing is changed";
  EXPECT_GT(most_other, 0.001);
  EXPECT_THAT(fail(with({"--second", "The king had a daughter and a son"})),
              HasSubstr("the --second prompt has 8 tokens, but the prompt has 5; give --align"));
  succeed(with({"--second", "The king had a daughter and a son", "--align", "token"}));
}

TEST(SweepCommand, WritesPicturesAndNumbers) {
  const TemporaryFolder folder;
  const auto written = [&](const char* name, Words more) {
    const auto file = folder.path() / name;
    more.insert(more.begin(), {"sweep", "--prompt", "The king had a daughter", "--out", file.string()});
    EXPECT_EQ(succeed(more), "");
    std::ifstream stream(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  EXPECT_THAT(written("a.png", {"--second", "The king had a son"}), StartsWith("\x89PNG"));
  EXPECT_THAT(written("a.svg", {"--over", "layer-position", "--size", "600x400"}), HasSubstr("<svg"));
  const std::string csv = written("a.csv", {"--token", "id:11", "--metric", "logit"});
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 6 * 8 + 2)
      << "the unedited metric, the rank correlation";
  EXPECT_THAT(csv, StartsWith("layer,head,"));
  EXPECT_THAT(written("b.png", {"--over", "senders", "--receiver", "L2.v"}), StartsWith("\x89PNG"));
  const std::string paths = written("b.csv", {"--over", "senders", "--ablate", "mean"});
  EXPECT_EQ(std::count(paths.begin(), paths.end(), '\n'), 1 + 6 * 9 + 1) << "paths have no estimates";
  EXPECT_THAT(paths, StartsWith("layer,sender,"));
  const std::string mlps = written("c.csv", {"--over", "mlps"});
  EXPECT_EQ(std::count(mlps.begin(), mlps.end(), '\n'), 1 + 6 + 2);
  EXPECT_THAT(mlps, StartsWith("layer,edit,"));
  const std::string heads = written("d.csv", {"--over", "head-position"});
  EXPECT_EQ(std::count(heads.begin(), heads.end(), '\n'), 1 + 6 * 8 * 5 + 2);
  EXPECT_THAT(heads, StartsWith("layer,head,position,token,edit,"));
  const std::string neurons = written("e.csv", {"--over", "neurons", "--top", "7"});
  EXPECT_EQ(std::count(neurons.begin(), neurons.end(), '\n'), 1 + 7 + 2);
  EXPECT_THAT(neurons, StartsWith("layer,neuron,edit,"));
  for (const char* over : {"mlps", "head-position", "neurons"})
    EXPECT_THAT(written("f.png", {"--over", over}), StartsWith("\x89PNG"));
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

TEST(SweepCommand, WhatTheModelHasNotIsOneSentence) {
  EXPECT_THAT(fail({"sweep", "--prompt", "The king", "--position", "2"}),
              HasSubstr("there is no position 2"));
  EXPECT_THAT(fail({"sweep", "--prompt", "The king", "--token", "id:4096"}),
              HasSubstr("there is no token 4096"));
  EXPECT_THAT(fail({"sweep", "--prompt", "The king", "--token", "The king"}),
              HasSubstr("--token takes one token"));
}

}  // namespace
}  // namespace headscope::app::sweep_command_test
