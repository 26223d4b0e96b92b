// Lists of prompts: shards, merging of parts, failing prompts.
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/cli/program.h"
#include "model/files/file_io.h"
#include "tests/app/command_runs.h"
#include "tests/app/view_fixture.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::batch_test {
namespace {

using ::testing::UnorderedElementsAreArray;

Ran run(const Words& arguments, const std::string& input = "") {
  static const Words bundled{"--model", testing::kBundledModel.string()};
  return testing::run_command(std::ranges::count(arguments, "--merge") > 0 ? arguments : arguments + bundled,
                              input);
}

constexpr const char* kSeven =
    "\"one two one two\"\n\n\"three\"\n{\"prompt\": \"four and five\"}\n{\"ids\": [1, 2, 3, 1, 2]}\n   "
    "\n\"six\"\n"
    "\"seven seven seven\"\n\"eight\"\n";

TEST(Shards, TakeEachPromptOnce) {
  const std::vector<std::string> whole = lines_of(run({"tokens", "--json", "--prompts", "-"}, kSeven).out);
  ASSERT_THAT(whole, SizeIs(7));
  for (const int count : {1, 2, 3, 7, 9}) {
    std::vector<std::string> all;
    for (int index = 0; index < count; ++index) {
      const Ran part = run({"tokens", "--json", "--prompts", "-", "--shard",
                            std::to_string(index) + "/" + std::to_string(count)},
                           kSeven);
      EXPECT_EQ(part.status, 0) << part.err;
      const auto lines = lines_of(part.out);
      EXPECT_LE(lines.size(), static_cast<std::size_t>((7 + count - 1) / count));
      all.insert(all.end(), lines.begin(), lines.end());
    }
    EXPECT_THAT(all, UnorderedElementsAreArray(whole)) << count;
  }
}

TEST(Shards, DoNotLookAtTheOthersLines) {
  const std::string list = "\"good\"\nnot json\n\"good, too\"\n";
  EXPECT_EQ(run({"tokens", "--prompts", "-", "--shard", "0/2"}, list).status, 0);
  const Ran other = run({"tokens", "--prompts", "-", "--shard", "1/2"}, list);
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("standard input:2"));
}

TEST(Shards, AreRefusedWhereThereAreNone) {
  for (const char* text : {"3", "2/2", "-1/2", "0/0", "1/x", "/", "0/1/2"}) {
    const Ran ran = run({"predict", "--prompts", "-", "--shard", text});
    EXPECT_EQ(ran.status, 2) << text;
    EXPECT_THAT(lines_of(ran.err), SizeIs(1)) << text;
  }
  EXPECT_THAT(run({"predict", "--prompt", "x", "--shard", "0/2"}).err, HasSubstr("requires --prompts"));
}

TEST(MetricsParts, MergeToTheLastDigitHoweverTheyWereCut) {
  const TemporaryFolder folder;
  const std::string whole = run({"metrics", "--json", "--prompts", "-"}, kSeven).out;
  for (const int count : {1, 2, 5, 9}) {
    std::vector<std::string> merge{"metrics", "--json", "--merge"};
    for (int index = count - 1; index >= 0; --index) {
      const std::string name = (folder.path() / ("part" + std::to_string(index) + ".json")).string();
      const Ran part = run({"metrics", "--json", "--prompts", "-", "--shard",
                            std::to_string(index) + "/" + std::to_string(count)},
                           kSeven);
      ASSERT_EQ(part.status, 0) << part.err;
      std::ofstream(name) << part.out;
      merge.push_back(name);
    }
    const Ran merged = run(merge);
    EXPECT_EQ(merged.out, whole) << merged.err;
  }
}

TEST(MetricsParts, OfSomethingElseAreRefused) {
  const TemporaryFolder folder;
  const std::string good = run({"metrics", "--json", "--prompt", "one two one two"}).out;
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::vector<std::pair<std::string, std::string>> parts = {
      {"", "JSON"},
      {"[1, 2]", "expected the output of headscope metrics"},
      {"{}", "expected the output of headscope metrics"},
      {changed("\"model\":\"tales\"", "\"model\":\"other\""), "its model is \"other\""},
      {changed("\"how\":{", "\"how\":3,\"what\":{"), "expected the output"},
      {changed("\"how\":{", "\"how\":{},\"what\":{"), "'edits' not found"},
      {changed("sha256:", "sha256:0"), "its weights"},
      {changed("\"model\":\"tales\"", "\"model\":\"\\u009b" + std::string(5000, 'x') + "\""),
       "its model is \"\\\"\\xc2\\x9bx"},
      {changed("\"head\":0", "\"head\":2147483647"), "head is 2147483647"},
      {run({"metrics", "--json", "--prompt", "one two one two", "--edit", "L0H0.z=0"}).out, "its edits"},
      {run({"metrics", "--json", "--prompt", "one two one two", "--precision", "bf16"}).out, "its precision"},
      {run({"metrics", "--json", "--prompt", "one two one two", "--bos"}).out, "its start_token"},
      {run({"metrics", "--json", "--prompts", "-", "--shard", "0/2"}, kSeven).out, "one of 2 shards"},
      {changed("\"prompts\":1", "\"prompts\":-1"), "prompts is -1"},
      {changed("\"prompts\":1", "\"prompts\":1.5"), "not a whole number"},
      {changed("\"head\":1", "\"head\":2"), "entry 1"},
      {changed("\"count\":3", "\"count\":99999999999999999999"), "count"},
      {changed("\"lost\":0", "\"lost\":-7"), "lost is -7"},
      {changed("\"lost\":0", "\"lost\":4"), "lost is 4"},
      {changed("\"units\":", "\"units\":4611686018427387904,\"once\":"), "units is"},
      {changed("\"bits\":{\"first\":", "\"bits\":{\"first\":1"), "different units"},
      {run({"metrics", "--json", "--prompt", "x y", "--top", "3", "--sort", "entropy"}).out,
       "3 of the model's 48 heads"},
      {run({"metrics", "--json", "--prompt", "x y", "--top", "3"}).out, "3 of the model's 48 heads"},
      {run({"metrics", "--json", "--prompt", "x y", "--sort", "entropy"}).out, "entry 0"},
      {good, "given twice"},
      {run({"metrics", "--json", "--repeated", "1,4"}).out, "repeated"},
  };
  const std::string file = (folder.path() / "part.json").string(),
                    whole = (folder.path() / "good.json").string();
  std::ofstream(whole) << good;
  for (const auto& [text, words] : parts) {
    std::ofstream(file) << text;
    const Ran ran = run({"metrics", "--merge", whole, file});
    EXPECT_EQ(ran.status, 1) << text.substr(0, 80);
    EXPECT_EQ(ran.out, "");
    ASSERT_THAT(lines_of(ran.err), SizeIs(1));
    EXPECT_THAT(ran.err, AllOf(HasSubstr("part.json"), HasSubstr(words)));
  }
  for (const std::vector<std::string>& other : {std::vector<std::string>{"--shard", "0/2"},
                                                {"--skip-errors"},
                                                {"--precision", "f16"},
                                                {"--threads", "1"}}) {
    std::vector<std::string> merge{"metrics", "--merge", whole};
    merge.insert(merge.end(), other.begin(), other.end());
    EXPECT_EQ(run(merge).status, 2) << other.front();
  }
  EXPECT_EQ(run({"metrics", "--merge", whole, "--prompt", "x"}).status, 2);
  EXPECT_EQ(run({"metrics", "--merge", whole, "--edit", "L0H0.z=0"}).status, 2);
  EXPECT_EQ(run({"metrics", "--merge", "/nowhere/part.json"}).status, 1);
}

TEST(MetricsParts, AreAllNeededAndEachOnce) {
  const TemporaryFolder folder;
  std::vector<std::string> files;
  for (int index = 0; index < 3; ++index) {
    files.push_back((folder.path() / (std::to_string(index) + ".json")).string());
    std::ofstream(files.back())
        << run({"metrics", "--json", "--prompts", "-", "--shard", std::to_string(index) + "/3"}, kSeven).out;
  }
  EXPECT_THAT(run({"metrics", "--merge", files[0], files[2]}).err, HasSubstr("2 of 3 shards"));
  EXPECT_THAT(run({"metrics", "--merge", files[0], files[2], files[0]}).err,
              HasSubstr("the same part was given twice"));
  EXPECT_EQ(run({"metrics", "--merge", files[2], files[1], files[0]}).status, 0);
}

constexpr const char* kBad = "\"one\"\nnot json\n{\"ids\": [999999]}\n\"four\"\n";

TEST(PromptsThatFail, EndTheWorkUnlessTheyAreSkipped) {
  const Ran ends = run({"predict", "--json", "--prompts", "-"}, kBad);
  EXPECT_EQ(ends.status, 1);
  EXPECT_THAT(lines_of(ends.out), SizeIs(1));
  const Ran goes_on = run({"predict", "--json", "--prompts", "-", "--skip-errors"}, kBad);
  EXPECT_EQ(goes_on.status, 0) << "it did as it was told";
  EXPECT_THAT(lines_of(goes_on.out), SizeIs(2));
  EXPECT_THAT(lines_of(goes_on.err), ElementsAre(AllOf(HasSubstr("standard input:2"), HasSubstr("; skipped")),
                                                 AllOf(HasSubstr("standard input:3"), HasSubstr("; skipped")),
                                                 HasSubstr("2 of 4 prompts were skipped")));
  const Ran none = run({"metrics", "--prompts", "-", "--skip-errors"}, "not json\n[]\n");
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(lines_of(none.err).back(), HasSubstr("all 2 prompts failed"));
  EXPECT_EQ(run({"predict", "--prompts", "-", "--skip-errors"}, kBad).out.substr(0, 5), "after")
      << "no empty line first";
  EXPECT_EQ(
      run({"predict", "--prompts", "-", "--skip-errors"}, "{\"ids\": [999999]}\n\"x\"\n").out.substr(0, 5),
      "after");
}

TEST(PromptsThatFail, AnEmptyListIsASentenceForEveryCommand) {
  for (const Words& command : {Words{"predict"}, Words{"tokens"}, Words{"sweep", "--mean"}, Words{"metrics"},
                               Words{"search"}, Words{"plot", "heatmap", "--out", "{n}.csv"}})
    for (const char* list : {"", "\n \n"}) {
      const Ran ran = run(command + Words{"--prompts", "-"}, list);
      EXPECT_EQ(ran.status, 1) << command[0];
      EXPECT_EQ(ran.out, "") << command[0];
      EXPECT_THAT(lines_of(ran.err), ElementsAre("headscope: there is no prompt in standard input"))
          << command[0];
    }
  // A list that is read whole.
  const TemporaryFolder folder;
  const std::string empty = folder.write("empty.jsonl", "\n \n").string();
  EXPECT_THAT(lines_of(run({"sweep", "--ablate", "mean", "--mean-over", empty, "--prompt", "The king"}).err),
              ElementsAre("headscope: there is no prompt in " + empty));
  // Another part of the list may have some.
  EXPECT_EQ(run({"sweep", "--prompts", "-", "--shard", "1/2"}, "\"one\"\n").status, 0);
}

TEST(PromptsThatFail, AreNotBlamedForTheCommand) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "{n}.csv").string();
  const std::string list = "\"one two\"\n\"three four\"\n";
  for (const std::vector<std::string>& fault : {std::vector<std::string>{"--show", "baseline"},
                                                {"--layer", "6"},
                                                {"--head", "8"},
                                                {"--second", std::string(10000, 'x')}}) {
    std::vector<std::string> plot{"plot", "heatmap", "--prompts", "-", "--skip-errors", "--out", out};
    plot.insert(plot.end(), fault.begin(), fault.end());
    const Ran ran = run(plot, list);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(lines_of(ran.err), SizeIs(1)) << ran.err;
  }
}

TEST(PromptsThatFail, MayBeAllOfAShard) {
  const TemporaryFolder folder;
  const std::string list = "\"one two\"\nnot json\n\"three four\"\n";
  const Ran whole = run({"metrics", "--json", "--prompts", "-", "--skip-errors"}, list);
  std::vector<std::string> merge{"metrics", "--json", "--merge"};
  for (const std::string index : {"0", "1", "2"}) {
    const Ran part =
        run({"metrics", "--json", "--prompts", "-", "--skip-errors", "--shard", index + "/3"}, list);
    EXPECT_EQ(part.status, 0) << part.err;
    merge.push_back((folder.path() / index).string());
    std::ofstream(merge.back()) << part.out;
  }
  EXPECT_EQ(run(merge).out, whole.out);
}

TEST(PromptsThatFail, SkipPicturesThatDoNotFit) {
  const TemporaryFolder folder;
  std::string words = "one";
  for (int i = 0; i < 60; ++i) words += " and another";
  const Ran ran = run({"plot", "lens", "--prompts", "-", "--skip-errors", "--size", "480", "--out",
                       (folder.path() / "{n}.svg").string()},
                      "\"one\"\n\"" + words + "\"\n\"two\"\n");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("standard input:2: "));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "3.svg"));
}

TEST(PromptsThatFail, LeaveAggregatesOfTheOthers) {
  const Ran ran = run({"metrics", "--json", "--prompts", "-", "--skip-errors"}, kBad);
  EXPECT_EQ(ran.status, 0);
  auto all = nlohmann::ordered_json::parse(ran.out),
       others = nlohmann::ordered_json::parse(
           run({"metrics", "--json", "--prompts", "-"}, "\"one\"\n\"four\"\n").out);
  EXPECT_EQ(all["how"]["list"]["prompts"], 4);
  EXPECT_EQ(others["how"]["list"]["prompts"], 2);
  EXPECT_NE(all["how"]["list"]["sha256"], others["how"]["list"]["sha256"]);
  all["how"].erase("list"), others["how"].erase("list");
  EXPECT_EQ(all["skipped"], 2);
  EXPECT_EQ(others["skipped"], 0);
  all.erase("skipped"), others.erase("skipped");
  EXPECT_EQ(all, others);
  EXPECT_THAT(lines_of(run({"search", "--prompts", "-", "--skip-errors", "--top", "3"}, kBad).out),
              SizeIs(5));
}

TEST(SeveralViews, AreAFileEach) {
  const TemporaryFolder folder;
  const auto files = [&] {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      names.push_back(entry.path().filename().string());
    return names;
  };
  const std::string pattern = (folder.path() / "{n}-{view}.csv").string();
  const std::string list = "\"one two three\"\n\"four\"\n";
  const std::vector<std::string> plot{"plot", "heatmap",   "--layer", "1",     "next", "--count",
                                      "3",    "--prompts", "-",       "--out", pattern};
  const Ran ran = run(plot, list);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(files(), UnorderedElementsAre("1-heatmap.csv", "1-next.csv", "2-heatmap.csv", "2-next.csv"));
  const auto alone = folder.path() / "alone.csv";
  EXPECT_EQ(run({"plot", "next", "--count", "3", "--layer", "1", "--prompt", "four", "--out", alone.string()})
                .status,
            0);
  EXPECT_EQ(model::read_file(folder.path() / "2-next.csv"), model::read_file(alone));

  EXPECT_THAT(run({"plot", "heatmap", "next", "--prompt", "x", "--out", "x.png"}).err, HasSubstr("{view}"));
  EXPECT_EQ(run({"plot", "heatmap", "next", "--prompt", "x", "--out", "-", "--format", "csv"}).status, 2);
}

TEST(SecondPrompt, HasAStartTokenWhereTheFirstHasOne) {
  for (const std::vector<std::string>& start : {std::vector<std::string>{}, {"--bos"}}) {
    const auto numbers = [&](std::vector<std::string> command) {
      command.insert(command.end(), start.begin(), start.end());
      command.insert(command.end(), {"--out", "-", "--format", "csv"});
      return run(command).out;
    };
    const std::string alone = numbers({"plot", "next", "--prompt", "The young king"});
    EXPECT_GT(lines_of(alone).size(), 5U);
    EXPECT_EQ(numbers({"plot", "next", "--prompt", "The old king", "--second", "The young king", "--show",
                       "baseline"}),
              alone);
  }
}

TEST(StandardOutput, GetsWhatAFileWould) {
  const TemporaryFolder folder;
  for (const auto& [command, formats] :
       {std::pair<std::vector<std::string>, std::vector<std::string>>{{"plot", "next", "--prompt", "one"},
                                                                      {"png", "svg", "pdf", "csv"}},
        {{"sweep", "--prompt", "one two"}, {"png", "csv"}},
        {{"shot", "--prompt", "one", "--size", "1024x700"}, {"png", "pdf"}}}) {
    for (const std::string& format : formats) {
      SCOPED_TRACE(command.front() + " " + format);
      const auto with = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments = command;
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(arguments);
      };
      const auto file = folder.path() / ("a." + format);
      EXPECT_EQ(with({"--out", file.string()}).status, 0);
      const Ran ran = with({"--out", "-", "--format", format});
      EXPECT_EQ(ran.status, 0) << ran.err;
      EXPECT_TRUE(ran.out == model::read_file(file)) << ran.out.size() << " bytes";
    }
  }
}

TEST(StandardOutput, GetsNoPictureWhereItIsATerminal) {
  std::istringstream in;
  std::ostringstream out, err;
  const Streams streams{.in = in, .out = out, .err = err, .out_is_terminal = true};
  EXPECT_EQ(run_program({"plot", "next", "--prompt", "one", "--out", "-", "--format", "png"}, streams), 1);
  EXPECT_EQ(out.str(), "");
  EXPECT_THAT(err.str(), HasSubstr("terminal"));
  EXPECT_EQ(run_program({"plot", "next", "--prompt", "one", "--out", "-", "--format", "csv"}, streams), 0);
}

}  // namespace
}  // namespace headscope::app::batch_test
