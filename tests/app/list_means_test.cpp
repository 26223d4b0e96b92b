// Lists of prompts whose lines say how they are measured, and means over them.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "app/cli/arguments/list_part.h"
#include "model/files/json.h"
#include "tests/app/command_runs.h"
#include "tests/app/prompt_lists.h"
#include "tests/support/naive_mean.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::list_means_test {
namespace {

using nlohmann::json;

const Words kNames{"Fox", "Badger", "Wolf", "Lion", "Jack"};

/// Every pair of two names: the prompt has one, what it is patched from the other.
std::vector<json> pairs() {
  std::vector<json> lines;
  for (const std::string& here : kNames)
    for (const std::string& there : kNames)
      if (here != there)
        lines.push_back({{"prompt", testing::king_gave_to(here)},
                         {"second", testing::king_gave_to(there)},
                         {"token", " " + there},
                         {"other_token", " " + here}});
  return lines;
}

std::string list_of(const std::vector<json>& lines) {
  std::string list;
  for (const json& line : lines) list += line.dump() + "\n";
  return list;
}

/// Runs a command on one line of a list, given as options.
json alone(const std::string& command, const json& line, const Words& more) {
  Words arguments{command,    "--json",
                  "--prompt", line.at("prompt").get<std::string>(),
                  "--token",  line.at("token").get<std::string>()};
  if (command == "sweep")
    arguments = arguments + Words{"--second", line.at("second"), "--other-token", line.at("other_token")};
  return json::parse(succeed(arguments + more));
}

/// The lines are what the same options say of each prompt; the means are those of these answers.
TEST(ListMeans, OfPairsAreThoseOfTheirSweeps) {
  const std::vector<json> lines = pairs();
  ASSERT_EQ(lines.size(), 20U);
  const std::string list = list_of(lines);
  const std::vector<std::string> each =
      lines_of(succeed({"sweep", "--prompts", "-", "--json", "--restored"}, list));
  ASSERT_EQ(each.size(), lines.size());
  for (const std::size_t i : {std::size_t{0}, std::size_t{13}})
    EXPECT_EQ(json::parse(each[i]), alone("sweep", lines[i], {"--restored"}));
  for (const bool shares : {false, true}) {
    const json means = json::parse(succeed(
        Words{"sweep", "--prompts", "-", "--json", "--mean"} + (shares ? Words{"--restored"} : Words{}),
        list));
    EXPECT_EQ(means.at("prompts"), 20);
    EXPECT_EQ(means.at("of").at("change"), "patch");
    EXPECT_EQ(means.at("of").at("restored"), shares);
    std::map<std::string, json> cells;
    for (const json& cell : means.at("means")) cells[cell.at("cell")] = cell;
    EXPECT_EQ(cells.size(), 6 * 8 + (shares ? 2U : 1U));
    for (const auto& [layer, head] : {std::pair(0, 0), std::pair(1, 6), std::pair(5, 7)}) {
      std::vector<double> numbers;
      for (const std::string& one : each)
        numbers.push_back(json::parse(one).at(shares ? "restored" : "changes")[layer][head]);
      const json& cell = cells.at("L" + std::to_string(layer) + " H" + std::to_string(head));
      const auto [mean, error] = testing::mean_and_error(numbers);
      EXPECT_NEAR(cell.at("mean"), mean, 1e-12);
      EXPECT_NEAR(cell.at("standard_error"), error, 1e-12);
      EXPECT_EQ(cell.at("count"), 20);
      EXPECT_EQ(cell.at("layer"), layer);
      EXPECT_EQ(cell.at("head"), head);
    }
  }
}

TEST(ListMeans, RestoredIsTheShareOfTheWay) {
  const json line = pairs().front();
  const json sweep = alone("sweep", line, {"--restored"});
  const auto logit = [&](const std::string& text, const std::string& token, const Words& more = {}) {
    const json answer =
        json::parse(succeed(Words{"predict", "--prompt", text, "--json", "--top", "4096"} + more));
    for (const json& guess : answer.at("next"))
      if (guess.at("text") == token) return guess.at("logit").get<double>();
    ADD_FAILURE() << token;
    return 0.0;
  };
  const std::string corrupted = line.at("prompt"), clean = line.at("second"), token = line.at("token"),
                    other = line.at("other_token");
  const auto difference = [&](const std::string& text, const Words& more = {}) {
    return logit(text, token, more) - logit(text, other, more);
  };
  const double before = difference(corrupted), after = difference(clean);
  EXPECT_NEAR(sweep.at("second"), after, 1e-5);
  const double patched = difference(corrupted, {"--edit", "L1H6.z<-\"" + clean + "\""});
  EXPECT_NEAR(sweep.at("restored")[1][6], (patched - before) / (after - before), 1e-5);
}

TEST(ListMeans, AreTheSameToTheBitInParts) {
  const TemporaryFolder folder;
  const std::string list = list_of(pairs());
  const std::vector<Words> commands{{"sweep", "--restored"},
                                    {"sweep", "--sweep-over", "layer-position", "--ablate", "zero"},
                                    {"attribute", "--metric", "difference"},
                                    {"lens"}};
  for (const Words& command : commands) {
    const Words measure = command + Words{"--mean", "--json", "--prompts", "-"};
    const std::string whole = succeed(measure, list);
    Words merge{command[0], "--json", "--merge"};
    for (int shard = 0; shard < 3; ++shard) {
      const std::string index = std::to_string(shard);
      merge.push_back((folder.path() / (index + ".json")).string());
      std::ofstream(merge.back()) << succeed(measure + Words{"--shard", index + "/3"}, list);
    }
    EXPECT_EQ(succeed(merge), whole) << command[0];
    EXPECT_THAT(fail({command[0], "--merge", merge[3], merge[4]}), HasSubstr("2 of 3 shards")) << command[0];
    EXPECT_THAT(fail({"sweep" == command[0] ? "lens" : "sweep", "--merge", merge[3]}),
                HasSubstr("it is of the command"))
        << command[0];
  }
}

TEST(ListMeans, OfAttributionsAndLensAreThoseOfTheirAnswers) {
  const std::vector<json> lines = pairs();
  const std::string list = list_of(lines);
  const json parts = json::parse(
      succeed({"attribute", "--metric", "difference", "--prompts", "-", "--mean", "--json"}, list));
  const json lens = json::parse(succeed({"lens", "--prompts", "-", "--mean", "--json"}, list));
  std::vector<double> mlps, probabilities;
  for (const std::string& line :
       lines_of(succeed({"attribute", "--metric", "difference", "--prompts", "-", "--json"}, list)))
    mlps.push_back(json::parse(line).at("layers")[2].at("mlp"));
  for (const json& line : lines)
    probabilities.push_back(
        alone("lens", line, {"--position", "-1"}).at("positions")[0].at("places")[3].at("probability"));
  const auto cell_of = [](const json& means, const std::string& name) {
    for (const json& cell : means.at("means"))
      if (cell.at("cell") == name) return cell;
    ADD_FAILURE() << name;
    return json();
  };
  EXPECT_NEAR(cell_of(parts, "L2 MLP").at("mean"), testing::mean_and_error(mlps).first, 1e-12);
  EXPECT_NEAR(cell_of(parts, "L2 MLP").at("standard_error"), testing::mean_and_error(mlps).second, 1e-12);
  const json& place = lens.at("means")[9];
  EXPECT_EQ(place.at("quantity"), "probability");
  EXPECT_NEAR(place.at("mean"), testing::mean_and_error(probabilities).first, 1e-12);
}

TEST(ListMeans, AreListedTheStrongestFirstAndAsCsv) {
  const std::string list = list_of(pairs());
  const Words measure{"sweep", "--prompts", "-", "--mean", "--restored"};
  const std::vector<std::string> lines = lines_of(succeed(measure, list));
  EXPECT_EQ(lines.size(), 1 + 6 * 8 + 2U);
  const std::vector<std::string> rows =
      lines_of(succeed(measure + Words{"--out", "-", "--format", "csv"}, list));
  EXPECT_EQ(rows.front(), "cell,layer,head,unit,mean,standard_error,count");
  EXPECT_EQ(rows.size(), 1 + 6 * 8 + 2U);
  for (const std::string& row : rows) EXPECT_EQ(std::ranges::count(row, ','), 6) << row;
  EXPECT_THAT(rows[1], StartsWith("L0 H0,0,0,"));
  EXPECT_EQ(
      lines_of(succeed({"lens", "--prompts", "-", "--mean", "--out", "-", "--format", "csv"}, list)).front(),
      "cell,hook,quantity,unit,mean,standard_error,count");
}

TEST(ListMeans, KlIsInBits) {
  const std::string list = list_of({pairs().front()});
  const Words measure{"sweep", "--prompts", "-", "--mean", "--metric", "kl"};
  EXPECT_EQ(json::parse(succeed(measure + Words{"--json"}, list)).at("means")[0].at("unit"), "bits");
  EXPECT_THAT(succeed(measure, list), HasSubstr("L1 H6, bits"));
}

TEST(ListMeans, PartsWithoutPromptsMerge) {
  const TemporaryFolder folder;
  const std::string list = list_of({pairs()[0], pairs()[1]});
  const Words measure{"attribute", "--prompts", "-", "--mean"};
  std::vector<std::string> files;
  for (int shard = 0; shard < 3; ++shard) {
    const Words part = measure + Words{"--shard", std::to_string(shard) + "/3"};
    files.push_back(
        folder.write(std::to_string(shard) + ".json", succeed(part + Words{"--json"}, list)).string());
    if (shard == 2) {
      EXPECT_EQ(succeed(part, list), "no prompt in this part\n");
    }
  }
  const std::string whole = succeed(measure + Words{"--json"}, list);
  EXPECT_EQ(succeed({"attribute", "--json", "--merge", files[0], files[1], files[2]}), whole);
  EXPECT_EQ(succeed({"attribute", "--json", "--merge", files[2], files[1], files[0]}), whole);
}

TEST(ListMeans, PartsOfOtherTokensOrPositionsAreRefused) {
  const TemporaryFolder folder;
  const auto part = [&](int shard, const Words& more) {
    const std::string text = succeed(
        Words{"lens", "--prompts", "-", "--mean", "--json", "--shard", std::to_string(shard) + "/2"} + more,
        "\"The king\"\n\"A queen\"\n");
    return folder.write(std::to_string(shard) + ".json", text).string();
  };
  EXPECT_THAT(fail({"lens", "--merge", part(0, {}), part(1, {"--token", " the"})}), HasSubstr("its of is"));
  EXPECT_THAT(fail({"lens", "--merge", part(0, {"--position", "0"}), part(1, {})}), HasSubstr("its of is"));
}

TEST(ListMeans, AreOfOneMeasurement) {
  const std::string one = list_of({pairs().front()});
  const Words mean{"sweep", "--prompts", "-", "--mean"};
  for (const auto& [more, list] :
       {std::pair(Words{}, one + "\"no second prompt\"\n"),
        {Words{"--sweep-over", "layer-position", "--ablate", "zero"}, one + "\"short\"\n"}}) {
    const Ran ran = testing::run_command(mean + more, list);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(lines_of(ran.err), ElementsAre(HasSubstr("standard input:2: ")));
  }
  const Ran skipped = testing::run_command(mean + Words{"--skip-errors", "--json"},
                                           one + "{\"prompt\": \"x\", \"token\": \" the king\"}\n");
  EXPECT_EQ(skipped.status, 0);
  EXPECT_THAT(skipped.err, HasSubstr("standard input:2: \"token\" takes one token"));
  EXPECT_EQ(json::parse(skipped.out).at("skipped"), 1);
}

TEST(ListMeans, BadLinesAreOneSentenceWithFileAndLine) {
  const TemporaryFolder folder;
  for (const auto& [line, words] : std::vector<std::pair<std::string, std::string>>{
           {R"({"prompt": "x", "token": 5})", "\"token\" must be a string"},
           {R"({"prompt": "x", "token": "5"})", "\"token\" 5 could be a text, an id or a rank"},
           {R"({"prompt": "x", "token": ""})", "\"token\" is empty"},
           {R"({"prompt": "x", "token": "id:99999"})", "there is no token 99999"},
           {R"({"prompt": "x", "token": "id:y"})", "\"token\" id: takes a whole number"},
           {R"({"prompt": "x", "other_token": " the king"})", "\"other_token\" takes one token"},
           {R"({"prompt": "x", "second": ["a"]})", "\"second\" must be a string"},
           {R"({"prompt": "x", "second": "a longer text"})", "\"second\" prompt has"},
           {R"({"prompt": "x", "position": "1"})", "\"position\" must be a whole number"},
           {R"({"prompt": "x", "position": -2})", "\"position\" must be a whole number"},
           {R"({"prompt": "x", "position": 1e3})", "\"position\" must be a whole number"},
           {R"({"prompt": "x", "position": 99})", "position"}}) {
    const std::string file = folder.write("pairs.jsonl", "\"good\"\n" + line + "\n").string();
    const Ran ran = testing::run_command({"sweep", "--prompts", file, "--json"});
    EXPECT_EQ(ran.status, 1) << line;
    EXPECT_THAT(lines_of(ran.err), SizeIs(1)) << ran.err;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("pairs.jsonl:2: "), HasSubstr(words))) << line;
  }
  EXPECT_EQ(testing::run_command({"sweep", "--prompts", "-", "--json"},
                                 "{\"prompt\": \"x\", \"token\": null, \"second\": null, \"note\": 3}\n")
                .status,
            0);
}

TEST(ListMeans, WrongUseIsOneSentence) {
  const Words list{"sweep", "--prompts", "x.jsonl"};
  for (const auto& [wrong, words] : std::vector<std::pair<Words, const char*>>{
           {{"sweep", "--prompt", "x", "--mean"}, "--mean requires --prompts"},
           {list + Words{"--mean", "--out", "a.png"}, "means are numbers"},
           {list + Words{"--mean", "--estimates", "also"}, "one number a cell"},
           {list + Words{"--restored", "--metric", "kl"}, "--restored does not apply"},
           {{"sweep", "--merge", "a.json", "--metric", "kl"}, "not with --metric"},
           {{"lens", "--prompt", "x", "--out", "-", "--format", "csv"}, "CSV is for means"}})
    EXPECT_THAT(testing::wrong_use(wrong), HasSubstr(words));
}

TEST(Attribute, CsvHasWhatJsonHas) {
  const Words command{"attribute", "--prompt", "The old king had a", "--sources", "1.6", "--neurons-of", "2"};
  const auto made = json::parse(succeed(command + Words{"--json"}));
  const std::vector<std::string> lines = lines_of(succeed(command + Words{"--out", "-", "--format", "csv"}));
  EXPECT_EQ(lines[0], "part,kind,layer,head,source,source token,weight,neuron,activation,logit");
  std::map<std::string, double> sums;  // of each part
  for (std::size_t i = 1; i < lines.size(); ++i)
    sums[lines[i].substr(0, lines[i].find(','))] += std::stod(lines[i].substr(lines[i].rfind(',') + 1));
  EXPECT_EQ(sums.at("sum"), made["sum"].get<double>());
  EXPECT_EQ(sums.at("the model's"), made["logit"].get<double>());
  EXPECT_EQ(sums.at("L1 H6"), made["layers"][1]["heads"][6].get<double>());
  EXPECT_NEAR(sums.at("L1 H6 by source"), sums.at("L1 H6"), 2e-5);
  EXPECT_NEAR(sums.at("L2 MLP by neuron") + sums.at("output bias of L2 MLP"), sums.at("L2 MLP"), 2e-5);
  // Of a list all prompts are in one file, which names each by its number.
  const std::vector<std::string> list = lines_of(
      succeed({"attribute", "--prompts", "-", "--out", "-", "--format", "csv"}, "\"one two\"\n\"three\"\n"));
  EXPECT_THAT(list[1], StartsWith("1,token embedding,"));
  EXPECT_THAT(list[list.size() / 2 + 1], StartsWith("2,token embedding,"));
}

/// A part of a large model has more values than other JSON may have.
TEST(ListMeans, PartsMayBeLarge) {
  std::string part = "[0";
  for (std::size_t i = 0; i < model::JsonLimits().values; ++i) part += ",0";
  std::size_t read = 0;
  read_part(part + "]", "a.json", "a list", [&](const auto& list) { read = list.size(); });
  EXPECT_EQ(read, model::JsonLimits().values + 1);
}

TEST(ListMeans, HostilePartsAreOneSentence) {
  const TemporaryFolder folder;
  const std::string good =
      succeed({"sweep", "--prompts", "-", "--mean", "--json"}, list_of({pairs().front()}));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return text.replace(at, from.size(), to);
  };
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"", ""},
           {"[]", ""},
           {changed("\"count\":1", "\"count\":2"), "count is 2"},
           {changed("\"count\":1", "\"count\":-1"), "count is -1"},
           {changed("\"sum\":[", "\"sum\":[1e300,"), "sum has 1e+300"},
           {changed("\"sum\":[", "\"sum\":[\"a\","), "sum has \"a\""},
           {changed("\"sum\":[", "\"sum\":{},\"x\":["), "sum is not a list"},
           {changed("\"means\":[", "\"means\":3,\"x\":["), "means is not a list"},
           {changed("\"of\":{", "\"of\":5,\"x\":{"), ""},
           {changed("\"what\":\"", "\"what\":5,\"x\":\""), "what is not a short string"}}) {
    const std::string file = folder.write("part.json", text).string();
    EXPECT_THAT(fail({"sweep", "--merge", file}), AllOf(HasSubstr("part.json"), HasSubstr(words)))
        << text.substr(0, 100);
  }
  const std::string
      other =
          folder.write("part.json", changed("\"metric\":\"difference\"", "\"metric\":\"logit\"")).string(),
      whole = folder.write("whole.json", good).string();
  EXPECT_THAT(fail({"sweep", "--merge", whole, other}), HasSubstr("its of is"));
}

}  // namespace
}  // namespace headscope::app::list_means_test
