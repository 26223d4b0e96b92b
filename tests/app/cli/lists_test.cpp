// Lists of prompts: an answer to each, their means, shards, and prompts that fail.
#include "model/files/error.h"
#include "tests/app/cli/command_runs.h"
#include "tests/app/prompt_lists.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::lists_test {
namespace {

constexpr const char* kSeven =
    "\"one two one two\"\n\n\"three\"\n{\"prompt\": \"four and five\"}\n{\"ids\": [1, 2, 3, 1, 2]}\n   "
    "\n\"six\"\n\"seven seven seven\"\n\"eight\"\n";
constexpr const char* kBad = "\"one\"\nnot json\n{\"ids\": [999999]}\n\"four\"\n";

/// Pairs that differ in a name, which the model guesses again.
std::string pairs(int count) {
  const Words names{"Fox", "Badger", "Wolf", "Lion", "King"};
  std::string lines;
  for (int i = 0; i < count; ++i) {
    const std::string &here = names[i % names.size()],
                      &there = names[(i + 1 + i / names.size()) % names.size()];
    lines += Json{{"prompt", king_gave_to(here)},
                  {"second", king_gave_to(there)},
                  {"token", " " + here},
                  {"other_token", " " + (here == there ? "Cat" : there)}}
                 .dump() +
             "\n";
  }
  return lines;
}

/// Expects an answer in a list to have the numbers of one about that prompt alone.
void expect_same(const std::string& line, int number, const Json& alone) {
  const Json answer = Json::parse(line);
  EXPECT_EQ(answer["prompt"], number);
  for (const char* member : {"how", "facts", "columns", "units"}) EXPECT_EQ(answer[member], alone[member]);
}

class Lists : public FigureFiles {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    return folder_.write(name, text).string();
  }
};

TEST_F(Lists, HaveAnAnswerForEachPrompt) {
  const Words tokens{"tokens", "--prompts", "-"};
  const Words lines = lines_written(succeed(tokens + Words{"--json"}, kSeven));
  ASSERT_THAT(lines, SizeIs(7));
  expect_same(lines[2], 3, answer_of({"tokens", "--prompt", "four and five"}));
  EXPECT_EQ(succeed({"tokens", "--prompts", "-"}, "\"one\"\n\"two\"\n"),
            "prompt 1:\n" + succeed({"tokens", "--prompt", "one"}) + "\nprompt 2:\n" +
                succeed({"tokens", "--prompt", "two"}));
  succeed(tokens + Words{"--out", path("all.jsonl")}, kSeven);
  EXPECT_EQ(lines_written(bytes("all.jsonl")), lines);
  succeed(tokens + Words{"--out", path("{n}.csv")}, kSeven);
  EXPECT_EQ(folder_.file_count(), 8U);
  EXPECT_EQ(bytes("3.csv"),
            succeed({"tokens", "--prompt", "four and five", "--out", "-", "--format", "csv"}));
}

TEST_F(Lists, AFileIsAPromptWhole) {
  const std::string prompt("a\r\nb\0c\n", 7);
  EXPECT_EQ(answer_of({"tokens", "--prompt-file", file("p", prompt)})["how"]["prompt"], prompt);
  EXPECT_EQ(answer_of({"tokens", "--prompt-file", "-"}, "\xef\xbb\xbf" + prompt)["how"]["prompt"], prompt);
  const std::string most(Prompt::kMaxBytes, 'x');
  for (const std::string& longer : {most + "x", "\xef\xbb\xbf" + most + "x"})
    EXPECT_THAT(fail({"next", "--prompt-file", "-"}, 1, longer),
                HasSubstr(std::to_string(Prompt::kMaxBytes)));
  EXPECT_THAT(fail({"next", "--prompts", "-"}, 1, "\"" + most + "x\""), HasSubstr("standard input:1: "));
  EXPECT_THAT(fail({"next", "--prompt-file", folder_.path().string()}), HasSubstr("directory"));
}

TEST_F(Lists, LinesSayHowTheyAreMeasured) {
  const Words lines = lines_written(succeed(
      {"sweep", "--prompts", "-", "--json"},
      R"({"prompt": "The old king", "second": "The old queen", "token": " was", "other_token": "id:5", "position": 1})"
      "\n\"The old king\"\n"));
  ASSERT_THAT(lines, SizeIs(2));
  expect_same(lines[0], 1,
              answer_of({"sweep", "--prompt", "The old king", "--second", "The old queen", "--token", " was",
                         "--other-token", "id:5", "--query", "1"}));
  expect_same(lines[1], 2, answer_of({"sweep", "--prompt", "The old king"}));
  EXPECT_THAT(fail({"sweep", "--prompts", "-"}, 1, R"({"prompt": "x", "token": "4"})"),
              HasSubstr("standard input:1: \"token\""));
}

TEST_F(Lists, AMetricThatIsChosenStaysWhereLinesNameTwoTokens) {
  const std::string list = file("pairs.jsonl", pairs(2));
  const Words kl{"sweep", "--metric", "kl"};
  EXPECT_EQ(answer_of(kl + Words{"--prompts", list, "--mean"})["facts"]["metric"], "kl");
  EXPECT_EQ(answer_of(kl + Words{"--over", list})["facts"]["metric"], "kl") << "of the list that is shown";
  EXPECT_EQ(answer_of({"saliency", "--metric", "logit", "--prompts", list, "--mean"})["facts"]["metric"],
            "logit");
}

// ---- means ----

TEST_F(Lists, AMeanIsThatOfEachPromptsOwnNumbers) {
  const Words sweep{"sweep", "--prompts", "-"};
  const Json mean = answer_of(sweep + Words{"--mean"}, pairs(4));
  EXPECT_EQ(mean["facts"]["prompts"], 4);
  EXPECT_EQ(mean["skipped"], 0);
  EXPECT_EQ(mean["how"]["list"]["prompts"], 4);
  const Json& means = mean["columns"];
  std::vector<double> sums(means["change mean"].size());
  for (const std::string& line : lines_written(succeed(sweep + Words{"--json"}, pairs(4)))) {
    const Json columns = Json::parse(line)["columns"];
    ASSERT_EQ(columns["head"], means["head"]);
    for (std::size_t row = 0; row < sums.size(); ++row) sums[row] += columns["change"][row].get<double>() / 4;
  }
  for (std::size_t row = 0; row < sums.size(); ++row)
    EXPECT_NEAR(means["change mean"][row].get<double>(), sums[row], 1e-12) << row;
}

// ---- shards ----

TEST_F(Lists, ShardsTakeEachPromptOnceAndReadNoOtherLine) {
  const Words whole = lines_written(succeed({"tokens", "--json", "--prompts", "-"}, kSeven));
  for (const int count : {1, 2, 3, 9}) {
    Words all;
    for (int index = 0; index < count; ++index)
      all = all + lines_written(run_command({"tokens", "--json", "--prompts", "-", "--shard",
                                             std::to_string(index) + "/" + std::to_string(count)},
                                            kSeven)
                                    .out);
    EXPECT_THAT(all, ::testing::UnorderedElementsAreArray(whole)) << count;
  }
  const std::string list = "\"good\"\nnot json\n\"good, too\"\n";
  succeed({"tokens", "--prompts", "-", "--shard", "0/2"}, list);
  EXPECT_THAT(fail({"tokens", "--prompts", "-", "--shard", "1/2"}, 1, list), HasSubstr("standard input:2"));
}

/// Expects two answers to be the same but for rounding.
void expect_near(const Json& a, const Json& b, const std::string& where = "") {
  if (a.is_number_float() || b.is_number_float()) {
    ASSERT_TRUE(a.is_number() && b.is_number()) << where;
    EXPECT_NEAR(a.get<double>(), b.get<double>(), 1e-12 * std::max(1.0, std::abs(a.get<double>()))) << where;
  } else if (a.is_structured() && a.type() == b.type() && a.size() == b.size()) {
    for (const auto& [name, value] : a.items()) {
      const Json& other =
          a.is_object() ? b.value(name, Json()) : b[static_cast<std::size_t>(std::stoul(name))];
      expect_near(value, other, where + "/" + name);
    }
  } else {
    EXPECT_EQ(a, b) << where;
  }
}

TEST_F(Lists, ShardsAddUpToTheWhole) {
  const std::string list = file("pairs.jsonl", pairs(20));
  for (const Words& command : {Words{"sweep", "--sweep-over", "layer-position"}, Words{"lens"}}) {
    const Words mean = command + Words{"--prompts", list, "--mean"};
    Words merge{command[0], "--merge"};
    for (const std::string index : {"3", "0", "2", "1"}) {
      merge.push_back(path(command[0] + index + ".json"));
      succeed(mean + Words{"--shard", index + "/4", "--out", merge.back()});
    }
    Json whole = answer_of(mean), merged = answer_of(merge);
    // Rows that only some prompts have are in the order in which they are met.
    EXPECT_EQ(merged["facts"]["prompts"], 20);
    expect_near(merged, whole);
  }
}

TEST_F(Lists, ShardsMayHaveNoPromptThatSucceeds) {
  const std::string list = "\"one two\"\nnot json\n\"three four\"\nnot json, too\n";
  const Words mean{"metrics", "--prompts", "-", "--mean", "--skip-errors", "--json"};
  for (const Words& order : {Words{"0", "1", "2", "3"}, Words{"1", "0", "3", "2"}}) {
    Words merge{"metrics", "--merge"};
    for (const std::string& index : order) {
      const Ran part = run_command(mean + Words{"--shard", index + "/4"}, list);
      EXPECT_EQ(part.status, 0) << part.err;
      merge.push_back(file(index + ".json", part.out));
    }
    const Json merged = answer_of(merge);
    EXPECT_EQ(merged["skipped"], 2);
    expect_near(merged, Json::parse(run_command(mean, list).out));
  }
}

TEST_F(Lists, PartsThatDoNotBelongTogetherAreRefused) {
  const Words mean{"next", "--json", "--mean", "--prompts", "-"};
  const auto part = [&](const Words& more, const std::string& list = kSeven) {
    return run_command(mean + more, list).out;
  };
  const std::string good = part({"--shard", "0/2"});
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = part({"--shard", "1/2"});
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"", "JSON"},
           {"[1, 2]", "expected the JSON that --mean writes"},
           {"{}", "expected the JSON that --mean writes"},
           {succeed({"next", "--prompt", "x", "--json"}), "expected "},
           {good, "the same prompts"},
           {run_command({"tokens", "--json", "--prompt", "x"}).out,
            "expected means of the view next, found those of \"tokens\""},
           {part({"--shard", "1/2", "--edit", "L0H0.z=0"}), "its \"how\" differs"},
           {part({"--shard", "1/2", "--precision", "bf16"}), "its \"how\" differs"},
           {part({"--shard", "1/2"}, "\"one\"\n\"two\"\n"), "its \"how\" differs"},
           {part({"--shard", "1/2", "--temperature", "2"}), "its \"options\" differs"},
           {changed("\"facts\":{", "\"facts\":[],\"what\":{"), "expected the JSON that --mean writes"},
           {changed("\"rank\":[1,", "\"rank\":["), "expected the JSON that --mean writes"},
           {changed("\"rank\":[1,", "\"rank\":[2,"), "next"},
           {changed("\"logit mean\"", "\"logit\""), "next"},
           {changed("\"prompts\":3", "\"prompts\":-1"), "next"},
       }) {
    const std::string other = file("part-of-next.json", text);
    const std::string error = fail({"next", "--merge", file("good.json", good), other});
    EXPECT_THAT(error, AllOf(HasSubstr("part-of-next.json"), HasSubstr(words))) << text.substr(0, 80);
    EXPECT_LT(error.size(), 600U);
  }
}

// ---- prompts that fail ----

TEST_F(Lists, APromptThatFailsEndsTheWorkUnlessItIsSkipped) {
  const Words command{"predict", "--json", "--prompts", "-"};
  const Ran ends = run_command(command, kBad);
  EXPECT_EQ(ends.status, 1);
  EXPECT_THAT(lines_written(ends.out), SizeIs(1));
  const Ran continues = run_command(command + Words{"--skip-errors"}, kBad);
  EXPECT_EQ(continues.status, 0);
  EXPECT_THAT(lines_written(continues.out), SizeIs(2));
  EXPECT_THAT(lines_written(continues.err),
              ElementsAre(AllOf(HasSubstr("standard input:2"), HasSubstr("; skipped")),
                          AllOf(HasSubstr("standard input:3"), HasSubstr("; skipped")),
                          HasSubstr("2 of 4 prompts were skipped")));
  EXPECT_EQ(run_command({"predict", "--prompts", "-", "--skip-errors"}, "{\"ids\": [999999]}\n\"x\"\n").out,
            "prompt 2:\n" + succeed({"predict", "--prompt", "x"}))
      << "no empty line first";
  Json mean = Json::parse(run_command(command + Words{"--skip-errors", "--mean"}, kBad).out),
       others = answer_of({"predict", "--prompts", "-", "--mean"}, "\"one\"\n\"four\"\n");
  EXPECT_EQ(mean["skipped"], 2);
  EXPECT_EQ(mean["how"]["list"]["prompts"], 4);
  EXPECT_EQ(mean["columns"], others["columns"]);
  const Ran none = run_command(command + Words{"--skip-errors"}, "not json\n[]\n");
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(lines_written(none.err).back(), HasSubstr("all 2 prompts failed"));
}

TEST_F(Lists, AreNotBlamedForTheCommand) {
  for (const Words& fault : {Words{"--show", "baseline"}, Words{"--layer", "6"}, Words{"--head", "8"}}) {
    const Ran ran =
        run_command(Words{"heatmap", "--prompts", "-", "--skip-errors", "--out", path("{n}.csv")} + fault,
                    "\"one two\"\n\"three four\"\n");
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(fault[0]));
  }
}

TEST_F(Lists, SkipPicturesThatDoNotFit) {
  std::string words = "one";
  for (int i = 0; i < 40; ++i) words += " and another";
  const Ran ran = run_command(
      {"tokens", "--prompts", "-", "--skip-errors", "--size", "300x200", "--out", path("{n}.svg")},
      "\"one\"\n\"" + words + "\"\n\"two\"\n");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("standard input:2: "));
  EXPECT_TRUE(std::filesystem::exists(path("3.svg")) && !std::filesystem::exists(path("2.svg")));
}

TEST_F(Lists, WithoutAPromptAreASentence) {
  for (const Words& command :
       {Words{"predict"}, Words{"sweep", "--mean"}, Words{"trace", "--out", path("{n}.safetensors")}})
    for (const char* list : {"", "\n \n"})
      EXPECT_EQ(fail(command + Words{"--prompts", "-"}, 1, list),
                "headscope: there is no prompt in standard input\n");
  const std::string empty = file("empty.jsonl", "\n \n");
  EXPECT_THAT(fail({"sweep", "--mean-over", empty, "--prompt", "The king"}),
              HasSubstr("there is no prompt in " + empty));
  succeed({"tokens", "--prompts", "-", "--shard", "1/2"}, "\"one\"\n");  // another part may have some
}

}  // namespace
}  // namespace headscope::app::lists_test
