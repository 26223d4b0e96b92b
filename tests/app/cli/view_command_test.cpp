// A view as a command: its table in every format is the view's own, its picture is a file, and what it is
// made from goes together.
#include "app/views/export.h"
#include "app/views/parts/list_means.h"
#include "tests/app/cli/command_runs.h"
#include "tests/app/two_models/second_model.h"
#include "tests/app/views/view_suite.h"
#include "tests/support/pattern_files.h"

namespace headscope::app::view_command_test {
namespace {

const Words kCsv{"--out", "-", "--format", "csv"};
const Words kSelected{"--layer", "2", "--head", "1", "--query", "6", "--key", "3"};

/// Expects the members of an answer that are a table's.
void expect_table(const Json& answer, const Table& table) {
  const Json expected = table_json(table);
  for (const auto& [member, value] : expected.items()) EXPECT_EQ(answer[member], value) << member;
}

class EveryViewCommand : public ViewSuite {};
INSTANTIATE_TEST_SUITE_P(Views, EveryViewCommand, ::testing::ValuesIn(ids_of_views()),
                         [](const auto& test) { return test.param; });

TEST_P(EveryViewCommand, WritesItsTableAsTextCsvAndJson) {
  const Scenario s(kRobot, {2, 1, 6, 3});
  const Table table = exported_table(view(), s.context(1000, 700));
  const Words command = Words{GetParam(), "--prompt", kRobot} + kSelected;
  const Json answer = answer_of(command);
  EXPECT_EQ(answer["view"], GetParam());
  expect_table(answer, table);
  EXPECT_EQ(succeed(command + kCsv), to_csv(table));
  ViewContext all = s.context(1000, 700);
  if (view().row_count != nullptr) all.max_rows = std::numeric_limits<int>::max();
  EXPECT_EQ(succeed(command + Words{"--rows", "0"}), to_text(strongest(exported_table(view(), all), 0)));
}

TEST_P(EveryViewCommand, NeedsAPromptUnlessItIsOfTheModelAlone) {
  const Ran alone = run_command(Words{GetParam()} + kCsv);
  if (alone.status != 0) {
    EXPECT_THAT(alone.err, HasSubstr("a prompt is missing"));
    EXPECT_TRUE(view().caption.prompt || view().of_model != nullptr);
  } else {
    EXPECT_EQ(succeed(Words{GetParam(), "--prompt", "The old king had a dog"} + kCsv), alone.out);
  }
}

TEST(ViewCommand, NeedsNoPromptWhereAnOptionSaysSo) {
  succeed({"metrics", "--metrics-text", "repeated"});
  succeed({"circuits", "--circuit", "pairs"});
  EXPECT_THAT(fail({"metrics"}, 2), HasSubstr("a prompt is missing"));
  EXPECT_THAT(fail({"circuits"}, 2), HasSubstr("a prompt is missing"));
}

TEST(ViewCommand, JsonSaysHowItWasMade) {
  const Json answer = answer_of({"heatmap", "--prompt", "The old king", "--second", "The very old king",
                                 "--align", "token", "--layer", "1", "--edit", "L0H1.z=0; L1.mlp_out*=0.5",
                                 "--value-scale", "log", "--precision", "f16", "--bos"});
  const Json& how = answer["how"];
  EXPECT_THAT(how["program"].get<std::string>(), StartsWith("headscope "));
  EXPECT_EQ(how["model"], "tales");
  EXPECT_THAT(how["weights"].get<std::string>(), ::testing::MatchesRegex("sha256:[0-9a-f]{64}"));
  EXPECT_TRUE(how["second_model"].is_null());
  EXPECT_EQ(how["precision"], "f16");
  EXPECT_EQ(how["start_token"], true);
  EXPECT_EQ(how["edits"], (Json{"L0H1.z=0", "L1.mlp_out*=0.5"}));
  EXPECT_EQ(how["prompt"], "The old king");
  EXPECT_EQ(how["second_prompt"], "The very old king");
  EXPECT_EQ(how["counterparts"], (Json{0, 1, 3, 4}));
  EXPECT_FALSE(how.contains("warnings") || how.contains("mean_over") || how.contains("list"));
  const Json options{{"value-scale", "log"}, {"align", "token"}, {"layer", 1}, {"head", 0}};
  for (const auto& [name, value] : options.items()) EXPECT_EQ(answer["options"][name], value) << name;
}

TEST(ViewCommand, WritesTheStrongestRowsAndSaysHowManyMoreThereAre) {
  const Words command{"attribution", "--prompt", kRobot};
  const Table table =
      exported_table(*find_view("attribution"), Scenario(kRobot, {0, 0, -1}).context(1000, 700));
  ASSERT_FALSE(table.ranked_by.empty());
  const std::size_t more = table.rows() - 40;
  EXPECT_EQ(succeed(command), to_text(strongest(table, 40)) + "and " + std::to_string(more) +
                                  " more rows: --rows 0 writes all\n");
  EXPECT_EQ(succeed(command + Words{"--rows", "3"}), to_text(strongest(table, 3)));
  expect_table(answer_of(command + Words{"--rows", "3"}), strongest(table, 3));
  const auto vocabulary = static_cast<std::size_t>(Scenario(kRobot).config().vocab_size);
  for (const auto& [rows, written] :
       {std::pair("20", std::size_t{20}), {"1001", 1001U}, {"0", vocabulary}, {"999999", vocabulary}})
    EXPECT_EQ(answer_of({"next", "--prompt", kRobot, "--rows", rows})["columns"]["rank"].size(), written);
  EXPECT_EQ(succeed(command + kCsv + Words{"--bom"}), "\xef\xbb\xbf" + to_csv(table));
  std::string words = "one";
  for (int i = 0; i < 60; ++i) words += " and another";
  const Words picture{"tokens", "--prompt", words, "--format", "svg", "--svg-text", "--out", "-"};
  EXPECT_THAT(succeed(picture + Words{"--rows", "0"}), HasSubstr(">probability<")) << "all, in pictures too";
}

TEST(ViewCommand, ShowsEachSideOfAComparison) {
  const Scenario s = edited("L0H1.z=0; L1.mlp_out*=0.5", {2, 1, 6});
  const Words command{"heatmap", "--prompt", kRobot,   "--edit", "L0H1.z=0; L1.mlp_out*=0.5",
                      "--layer", "2",        "--head", "1",      "--query",
                      "6",       "--show"};
  for (const auto& [side, name] :
       {std::pair{Side::run, "run"}, {Side::baseline, "baseline"}, {Side::difference, "difference"}})
    expect_table(answer_of(command + Words{name}),
                 exported_table(*find_view("heatmap"), on(side, "heatmap", s)));
  for (const auto& [by, name] :
       {std::pair{Alignment::position, "position"}, {Alignment::subsequence, "token"}}) {
    const Scenario two = of_two({2, 1, -1}, by);
    expect_table(answer_of({"heatmap", "--prompt", "The old king had a daughter", "--second",
                            "The very old king had daughter", "--align", name, "--show", "difference",
                            "--layer", "2", "--head", "1"}),
                 exported_table(*find_view("heatmap"), on(Side::difference, "heatmap", two)));
  }
  const Words circuit{"circuit_graph", "--prompt", "The old king"};
  EXPECT_EQ(answer_of(circuit + Words{"--edit", "L0H1.z=0", "--show", "baseline"})["facts"],
            answer_of(circuit)["facts"])
      << "which has no edits";
}

TEST(ViewCommand, ASecondPromptHasAStartTokenWhereTheFirstHasOne) {
  for (const Words& start : {Words{}, Words{"--bos"}})
    EXPECT_EQ(succeed(Words{"next", "--prompt", "The old king", "--second", "The young king", "--show",
                            "baseline"} +
                      start + kCsv),
              succeed(Words{"next", "--prompt", "The young king"} + start + kCsv));
}

TEST(ViewCommand, ASecondPromptOrModelIsPatchedFromUnlessAnAblationIsAskedFor) {
  const auto change = [](const Words& more) {
    return answer_of(Words{"sweep", "--prompt", "The old king"} + more)["options"].value("sweep-change",
                                                                                         "zero");
  };
  const Words second{"--second", "The young king"};
  EXPECT_EQ(change({}), "zero");
  EXPECT_EQ(change(second), "patch");
  EXPECT_EQ(change({"--second-model", testing::kBundledModel.string()}), "patch");
  EXPECT_EQ(change(second + Words{"--sweep-change", "mean"}), "mean");
  EXPECT_EQ(change(second + Words{"--sweep-change", "zero"}), "zero");
  EXPECT_EQ(change(second + Words{"--show", "baseline"}), "zero") << "which has no source";
}

TEST(ViewCommand, TokensAreTextsIdsOrRanksOfTheUneditedRun) {
  const Json guesses = answer_of({"next", "--prompt", kRobot})["columns"];
  const auto token = [](const Words& more) {
    const Json facts = answer_of(Words{"sweep", "--prompt", kRobot} + more)["facts"];
    return std::pair(facts["token id"], facts["other token id"]);
  };
  const Json &first = guesses["id"][0], &second = guesses["id"][1], &third = guesses["id"][2];
  EXPECT_EQ(token({}), std::pair(first, second));
  EXPECT_EQ(token({"--token", "rank:2"}), std::pair(second, first));
  EXPECT_EQ(token({"--token", "id:" + third.dump()}), std::pair(third, first));
  EXPECT_EQ(token({"--edit", "L3.mlp_out=0", "--token", "rank:3"}).first, third);
}

TEST(ViewCommand, MeansOfAListAreSetByEdits) {
  const TemporaryFolder folder;
  const std::string list = folder.write("names.txt", "The old queen\nA dog\n").string();
  const Words command{"next", "--prompt", "The old king", "--edit", "L2H1.z=mean"};
  const Json own = answer_of(command), of_list = answer_of(command + Words{"--mean-over", list});
  EXPECT_NE(own["columns"]["logit"], of_list["columns"]["logit"]);
  const Json& how = of_list["how"]["mean_over"];
  EXPECT_EQ(how["file"], "names.txt");
  EXPECT_EQ(how["prompts"], 2);
  EXPECT_EQ(how["tokens"], 5);
  // Sweeps and circuits ablate by it.
  EXPECT_EQ(answer_of({"sweep", "--prompt", "The old king", "--mean-over", list})["options"]["sweep-change"],
            "list-mean");
  EXPECT_EQ(answer_of({"circuit", "--prompt", "The old king", "--mean-over", list})["options"]["elsewhere"],
            "list-mean");
}

TEST(ViewCommand, IsOverAListWhereTheViewIsOfManyPrompts) {
  const TemporaryFolder folder;
  const std::string list = folder.write("two.txt", "The old king\nA very old king and a dog\n").string();
  const Scenario s(kRobot, {0, 0, -1});
  for (const View& view : views()) {
    if (view.over_list.option == nullptr) continue;
    ViewContext c = s.context(1000, 700);
    c.options.set(*view.over_list.option, view.over_list.value);
    const Words prompt = can_show_means(view) ? Words{} : Words{"--prompt", kRobot};
    expect_table(answer_of(Words{std::string(view.id), "--over", list} + prompt), exported_table(view, c));
  }
}

TEST(ViewCommand, ATerminalGetsNoPicture) {
  const Words picture{"next", "--prompt", "one", "--out", "-", "--format", "png"};
  EXPECT_THAT(succeed(picture), StartsWith("\x89PNG"));
  const Ran ran = run_command(picture, "", true);
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("terminal"));
}

TEST(ViewCommand, StandardOutputGetsWhatAFileWould) {
  const TemporaryFolder folder;
  for (const Words& command :
       {Words{"sweep", "--prompt", "one two"}, Words{"shot", "--prompt", "one", "--size", "1024x700"}})
    for (const std::string format : {"png", "pdf", "svg", "csv", "json"}) {
      if (command[0] == "shot" && format != "png" && format != "pdf") continue;
      const std::string file = (folder.path() / ("a." + format)).string();
      succeed(command + Words{"--out", file});
      EXPECT_EQ(bytes_of_file(file), succeed(command + Words{"--out", "-", "--format", format})) << format;
    }
}

// ---- models ----

TEST(ViewCommand, WarnsOfWhatIsNotUsed) {
  const TemporaryFolder folder;
  write_model_with_warnings(folder);
  const Ran ran = run_command({"next", "--prompts", "-", "--json", "--model", folder.path().string()},
                              "\"one\"\n\"two\"\n");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(lines_written(ran.err),
              AllOf(SizeIs(4), Each(StartsWith("headscope: ")), Contains(HasSubstr("h.7.ln_1.weight"))));
  for (const std::string& line : lines_written(ran.out))
    EXPECT_THAT(Json::parse(line)["how"]["warnings"], SizeIs(4));
  EXPECT_THAT(
      run_command({"lens", "--prompt", "one two", "--edit", "L1.resid_pre[7]=0; L1.resid_pre[0]=0"}).err,
      HasSubstr("the edit L1.resid_pre[7]=0 has no effect"));
}

TEST(ViewCommand, ComparesTwoModels) {
  const SecondModelFolder second;
  const std::string folder = second.path().string();
  const Words heatmap{"heatmap", "--prompt", kRobot, "--layer", "1"};
  const Json baseline = answer_of(heatmap + Words{"--second-model", folder, "--show", "baseline"});
  EXPECT_EQ(baseline["how"]["second_model"]["model"], "other");
  EXPECT_EQ(baseline["columns"], answer_of(heatmap + Words{"--model", folder})["columns"]);
}

// ---- attention files ----

TEST(AttentionFile, WrittenByTraceHasTheNumbersOfTheModel) {
  const TemporaryFolder folder;
  const std::string traced = (folder.path() / "all.safetensors").string(),
                    prompt = "The old king had a dog, and the old king";
  succeed({"trace", "--prompt", prompt, "--hooks", "*hook_pattern", "--out", traced});
  for (const Words& view : {Words{"heads"}, Words{"heatmap"}, Words{"lines"}, Words{"metrics"},
                            Words{"search", "--query", "6", "--key", "1"}}) {
    const Words selected = view + Words{"--layer", "2", "--head", "1"};
    const Json of_file = answer_of(selected + Words{"--attention", traced}),
               of_model = answer_of(selected + Words{"--prompt", prompt});
    for (const auto& [name, cells] : of_file["columns"].items())  // the model's have ids, too
      EXPECT_EQ(cells, of_model["columns"][name]) << view[0] << " " << name;
    EXPECT_EQ(of_file["facts"], of_model["facts"]) << view[0];
    EXPECT_EQ(of_file["how"]["model"], "tales");
  }
}

TEST(AttentionFile, GoesWithNothingThatNeedsWeights) {
  const TemporaryFolder folder;
  const std::string square =
      folder.write("a.safetensors", safetensors_bytes(pattern_tensors({1, 2, 4, 4}, causal_weight), ""))
          .string();
  const auto wrong = [&](const Words& more, int status) {
    return fail(Words{"heatmap", "--attention", square} + more, status);
  };
  EXPECT_THAT(wrong({"--prompt", "one"}, 2), HasSubstr("--attention replaces the prompt"));
  EXPECT_THAT(wrong({"--model", "x"}, 2), AllOf(HasSubstr("--attention"), HasSubstr("--model")));
  EXPECT_THAT(wrong({"--edit", "L0H0.z=0"}, 2), HasSubstr("need a model's weights"));
  EXPECT_THAT(wrong({"--second", "two"}, 2), HasSubstr("use --second-attention"));
  EXPECT_THAT(wrong({"--layer", "1"}, 1), HasSubstr("there is no layer 1: the last one is 0"));
  EXPECT_THAT(wrong({"--zoom", "0:5,0:3"}, 1), AllOf(HasSubstr("--zoom"), HasSubstr("reaches beyond")));
  EXPECT_THAT(wrong({"--show", "difference"}, 1), HasSubstr("nothing to compare with"));
  EXPECT_THAT(fail({"lens", "--attention", square}, 2), HasSubstr("--attention"));
}

}  // namespace
}  // namespace headscope::app::view_command_test
