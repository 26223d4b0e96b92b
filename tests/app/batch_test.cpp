// Many prompts: shards, parts that are put together again, prompts that fail, work that goes on.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "app/cli/program.h"
#include "model/file_io.h"
#include "tests/app/view_fixture.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

using headscope::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

struct Ran {
  int status;
  std::string out, err;
};

Ran run(std::vector<std::string> arguments, const std::string& input = "") {
  if (std::ranges::find(arguments, "--merge") == arguments.end())
    arguments.insert(arguments.end(), {"--model", testing::kBundledModel.string()});
  std::istringstream in(input);
  std::ostringstream out, err;
  const int status = run_program(arguments, {in, out, err});
  return {status, out.str(), err.str()};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
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
  EXPECT_THAT(run({"predict", "--prompt", "x", "--shard", "0/2"}).err, HasSubstr("needs --prompts"));
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
      {"[1, 2]", "expected what headscope metrics"},
      {"{}", "expected what headscope metrics"},
      {changed("\"model\":\"tales\"", "\"model\":\"other\""), "its model is \"other\""},
      {changed("\"how\":{", "\"how\":3,\"what\":{"), "its edits"},
      {changed("sha256:", "sha256:0"), "its weights"},
      {run({"metrics", "--json", "--prompt", "one two one two", "--edit", "L0H0.z=0"}).out, "its edits"},
      {run({"metrics", "--json", "--prompt", "one two one two", "--precision", "bf16"}).out, "its precision"},
      {run({"metrics", "--json", "--prompt", "one two one two", "--bos"}).out, "its start_token"},
      {run({"metrics", "--json", "--prompts", "-", "--shard", "0/2"}, kSeven).out, "one of 2 shards"},
      {changed("\"prompts\":1", "\"prompts\":-1"), "prompts is -1"},
      {changed("\"prompts\":1", "\"prompts\":1.5"), "no whole number"},
      {changed("\"head\":1", "\"head\":2"), "entry 1"},
      {changed("\"count\":3", "\"count\":99999999999999999999"), "count"},
      {changed("\"lost\":0", "\"lost\":-7"), "lost is -7"},
      {changed("\"lost\":0", "\"lost\":4"), "lost is 4"},
      {changed("\"units\":", "\"units\":4611686018427387904,\"once\":"), "units is"},
      {changed("\"bits\":{\"first\":", "\"bits\":{\"first\":1"), "other units"},
      {run({"metrics", "--json", "--prompt", "x y", "--top", "3", "--sort", "entropy"}).out, "expected what"},
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
  EXPECT_THAT(run({"metrics", "--merge", files[0], files[2]}).err, HasSubstr("there are 2 of 3 shards"));
  EXPECT_THAT(run({"metrics", "--merge", files[0], files[2], files[0]}).err,
              HasSubstr("shard 0 is there twice"));
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
  EXPECT_THAT(lines_of(none.err).back(), HasSubstr("none of 2 prompts went well"));
  EXPECT_EQ(run({"predict", "--prompts", "-", "--skip-errors"}, kBad).out.substr(0, 5), "after")
      << "no empty line first";
  EXPECT_EQ(
      run({"predict", "--prompts", "-", "--skip-errors"}, "{\"ids\": [999999]}\n\"x\"\n").out.substr(0, 5),
      "after");
}

TEST(PromptsThatFail, LeaveAggregatesOfTheOthers) {
  const Ran ran = run({"metrics", "--json", "--prompts", "-", "--skip-errors"}, kBad);
  EXPECT_EQ(ran.status, 0);
  std::string others = run({"metrics", "--json", "--prompts", "-"}, "\"one\"\n\"four\"\n").out;
  const std::string none = "\"skipped\":0";
  ASSERT_NE(others.find(none), std::string::npos);
  EXPECT_EQ(ran.out, others.replace(others.find(none), none.size(), "\"skipped\":2"));
  EXPECT_THAT(lines_of(run({"search", "--prompts", "-", "--skip-errors", "--top", "3"}, kBad).out),
              SizeIs(5));
}

TEST(PromptsThatFail, KeepTheNumbersOfTheOthers) {
  const TemporaryFolder folder;
  const Ran ran = run(
      {"plot", "tokens", "--prompts", "-", "--skip-errors", "--out", (folder.path() / "{n}.svg").string()},
      kBad);
  EXPECT_EQ(ran.status, 0) << ran.err;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.push_back(entry.path().filename());
  EXPECT_THAT(names, UnorderedElementsAre("1.svg", "4.svg"));
}

TEST(Resuming, MakesOnlyWhatIsNotThere) {
  const TemporaryFolder folder;
  const std::string list = "\"one\"\n\"two\"\n\"three\"\n";
  for (const auto& [command, extension] :
       {std::pair<std::vector<std::string>, std::string>{{"plot", "tokens"}, ".svg"},
        {{"trace", "--hooks", "hook_embed"}, ".safetensors"},
        {{"sweep"}, ".csv"}}) {
    SCOPED_TRACE(command.front());
    const std::filesystem::path second = folder.path() / ("2" + extension);
    std::ofstream(second) << "there";
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(),
                     {"--prompts", "-", "--resume", "--out", (folder.path() / ("{n}" + extension)).string()});
    const Ran ran = run(arguments, list);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(model::read_file(second), "there");
    for (const char* other : {"1", "3"})
      EXPECT_TRUE(std::filesystem::exists(folder.path() / (other + extension)));
    const auto made = std::filesystem::last_write_time(folder.path() / ("1" + extension));
    EXPECT_EQ(run(arguments, list).status, 0);
    EXPECT_EQ(std::filesystem::last_write_time(folder.path() / ("1" + extension)), made);
  }
  EXPECT_EQ(run({"plot", "tokens", "--prompt", "x", "--resume", "--out", "x.svg"}).status, 2);
  EXPECT_EQ(run({"sweep", "--prompts", "-", "--resume"}).status, 2);
  EXPECT_EQ(run({"sweep", "--prompts", "-", "--resume", "--json", "--out", "{n}.csv"}).status, 2);
}

}  // namespace
}  // namespace headscope::app
