// metrics and search: their arguments, and their output compared with the model's patterns.
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/commands/command_arguments.h"
#include "tests/app/command_runs.h"
#include "tests/support/naive_mean.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app::head_commands_test {
namespace {

using nlohmann::json;

using Kind = TokenSelector::Kind;

constexpr const char* kTwice = "one two three one two three one two";

TEST(Edits, OfPositionsThatThePromptLacksAreNamed) {
  const Ran ran =
      run_command({"lens", "--prompt", "one two", "--edit", "L1.resid_pre[7]=0; L1.resid_pre[0]=0"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(lines_of(ran.err).size(), 1U) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("the edit L1.resid_pre[7]=0 has no effect"));
}

TEST(MetricsCommand, IsParsed) {
  const auto plain = parsed<MetricsCommand>({"metrics", "--prompt", "x"});
  EXPECT_FALSE(plain.repeated || plain.sort || plain.top);
  const auto full = parsed<MetricsCommand>({"metrics", "--seed", "9", "--repeated", "4,20", "--sort",
                                            "induction", "--top", "3", "--out", "-", "--format", "csv"});
  EXPECT_EQ(full.repeated, (RepeatedTokens{20, 4, 9}));
  EXPECT_EQ(full.sort, HeadMetric::induction);
  EXPECT_EQ(full.top, 3);
  EXPECT_TRUE(full.csv);
  EXPECT_THAT(wrong_use({"metrics", "--prompt", "x", "--repeated", "4,20"}),
              AllOf(HasSubstr("--repeated"), HasSubstr("--prompt")));
  EXPECT_THAT(wrong_use({"metrics", "--prompt", "x", "--sort", "size"}), HasSubstr("induction"));
  for (const char* text : {"4", "0,4", "4,0", "4,x", "4,5,6"})
    EXPECT_THAT(wrong_use({"metrics", "--repeated", text}), HasSubstr("--repeated takes")) << text;
}

TEST(MetricsCommand, OfManyPromptsIsTheExactSumOfEach) {
  const std::string all = succeed({"metrics", "--prompts", "-", "--json"},
                                  "\"one two one two\"\n\"a b c a b c a\"\n{\"ids\": [5, 6, 5, 6, 7]}\n");
  const json together = json::parse(all);
  std::vector<json> parts;
  for (const Words& one : {Words{"--prompt", "a b c a b c a"}, Words{"--ids", "5,6,5,6,7"},
                           Words{"--prompt", "one two one two"}}) {
    Words arguments{"metrics", "--json"};
    arguments.insert(arguments.end(), one.begin(), one.end());
    parts.push_back(json::parse(succeed(arguments)));
  }
  EXPECT_EQ(together["prompts"], 3);
  ASSERT_EQ(together["heads"].size(), 48U);
  for (std::size_t i = 0; i < 48; ++i) {
    for (const auto& [name, sum] : together["heads"][i]["sums"].items()) {
      std::int64_t units = 0, count = 0;
      for (const json& part : parts) {
        units += part["heads"][i]["sums"][name]["units"].get<std::int64_t>();
        count += part["heads"][i]["sums"][name]["count"].get<std::int64_t>();
      }
      ASSERT_EQ(sum["units"], units) << name;
      ASSERT_EQ(sum["count"], count) << name;
      const double mean = std::ldexp(static_cast<double>(units) / static_cast<double>(count),
                                     -together["bits"][name].get<int>());
      EXPECT_EQ(together["heads"][i][name], mean);
    }
  }
}

TEST(MetricsCommand, OfManyPromptsHaveTheErrorOfTheMeanOfTheirOwnValues) {
  const Words prompts{"one two one two", "a b c a b c a", "The king had"};  // of which two repeat a token
  std::string list;
  std::vector<json> each;
  for (const std::string& prompt : prompts) {
    list += json(prompt).dump() + "\n";
    each.push_back(json::parse(succeed({"metrics", "--json", "--prompt", prompt})));
    EXPECT_FALSE(each.back()["heads"][0].contains("over_prompts")) << "there is one prompt";
  }
  const json together = json::parse(succeed({"metrics", "--prompts", "-", "--json"}, list));
  for (std::size_t i = 0; i < 48; ++i)
    for (const char* name : {"first", "induction", "entropy"}) {
      std::vector<double> values;
      for (const json& one : each)
        if (one["heads"][i][name].is_number()) values.push_back(one["heads"][i][name]);
      const auto [mean, error] = testing::mean_and_error(values);
      const json& found = together["heads"][i]["over_prompts"][name];
      EXPECT_EQ(found["count"], values.size()) << name;
      EXPECT_NEAR(found["mean"], mean, 1e-12);
      EXPECT_NEAR(found["standard_error"], error, 1e-12);
    }
  const auto csv = lines_of(succeed({"metrics", "--prompts", "-", "--out", "-", "--format", "csv"}, list));
  ASSERT_EQ(csv.size(), 49U);
  EXPECT_THAT(csv[0], EndsWith("sink_standard_error,sink_count"));
  const json& sink = together["heads"][0]["over_prompts"]["sink"];
  const std::size_t count = csv[1].rfind(','), error = csv[1].rfind(',', count - 1);
  EXPECT_EQ(csv[1].substr(count + 1), sink["count"].dump());
  EXPECT_EQ(std::stod(csv[1].substr(error + 1)), sink["standard_error"].get<double>());
}

TEST(MetricsCommand, MergedPartsAreTheWholeList) {
  const std::string list = "\"one two one two\"\n\"a b c a b c a\"\n\"The king had\"\n\"Once upon a time\"\n";
  const TemporaryFolder folder;
  Words merge{"metrics", "--json", "--merge"};
  for (const std::string shard : {"0/2", "1/2"})
    merge.push_back(folder
                        .write(shard.substr(0, 1) + ".json",
                               succeed({"metrics", "--prompts", "-", "--json", "--shard", shard}, list))
                        .string());
  EXPECT_EQ(succeed(merge), succeed({"metrics", "--prompts", "-", "--json"}, list));
}

TEST(MetricsCommand, TableAndCsvAreSortedAsAskedAndSayTheSame) {
  const auto table =
      lines_of(succeed({"metrics", "--repeated", "2,20", "--sort", "induction", "--top", "5"}));
  ASSERT_EQ(table.size(), 7U);
  EXPECT_THAT(table[0], AllOf(StartsWith("head"), HasSubstr("previous"), HasSubstr("sink")));
  EXPECT_EQ(table[6], "entropy in bits, distance in tokens");
  const auto csv = lines_of(
      succeed({"metrics", "--repeated", "2,20", "--sort", "induction", "--out", "-", "--format", "csv"}));
  EXPECT_EQ(csv[0],
            "layer,head,first,previous,self,induction,duplicate,entropy_bits,distance_tokens,sink,"
            "queries_left_out");
  ASSERT_EQ(csv.size(), 49U);
  double last = 2;
  for (std::size_t i = 1; i < csv.size(); ++i) {
    std::istringstream row(csv[i]);
    std::vector<std::string> cells;
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    ASSERT_EQ(cells.size(), 11U);
    EXPECT_LE(std::stod(cells[5]), last);
    last = std::stod(cells[5]);
    if (i > 5) continue;
    EXPECT_THAT(table[i], StartsWith("L" + cells[0] + " H" + cells[1] + " "));
    char induction[16];
    std::snprintf(induction, sizeof induction, "%.4f", last);
    EXPECT_THAT(table[i], HasSubstr(induction));
  }
  EXPECT_NE(succeed({"metrics", "--repeated", "2,20", "--seed", "1", "--out", "-", "--format", "csv"}),
            succeed({"metrics", "--repeated", "2,20", "--out", "-", "--format", "csv"}));
}

TEST(MetricsCommand, SaysHowManyQueriesAreLeftOut) {
  const Words masked{"metrics", "--prompt", "one two one two", "--edit", "L0H1.scores[2,0-2]=null"};
  const json answer = json::parse(succeed(masked + Words{"--json"}));
  EXPECT_EQ(answer["heads"][0]["queries_left_out"], 0);
  EXPECT_EQ(answer["heads"][1]["queries_left_out"], 1);
  EXPECT_EQ(answer["heads"][1]["sums"]["first"]["count"], 2);
  EXPECT_EQ(answer["unit"]["entropy"], "bits");
  EXPECT_THAT(succeed(masked), HasSubstr("left out: 0 to 1 query of a head"));
  EXPECT_THAT(lines_of(succeed(masked + Words{"--out", "-", "--format", "csv"}))[2], EndsWith(",1"));
  const TemporaryFolder folder;
  const std::string part = folder.write("0.json", succeed(masked + Words{"--json"})).string();
  const json merged = json::parse(succeed({"metrics", "--json", "--merge", part}));
  EXPECT_EQ(merged["heads"][0]["queries_left_out"], 0);
  EXPECT_EQ(merged["heads"][1]["queries_left_out"], 1);
}

TEST(TokensCommand, ReadsSpecialTokensAsPlainTextIfAsked) {
  const Words tokens{"tokens", "--json", "--prompt", "a<|endoftext|>"};
  const json special = json::parse(succeed(tokens))["tokens"],
             plain = json::parse(succeed(tokens + Words{"--no-special"}))["tokens"];
  ASSERT_EQ(special.size(), 2U);
  std::string text;
  for (const json& token : plain) {
    text += token["text"];
    EXPECT_NE(token["id"], special[1]["id"]);
  }
  EXPECT_EQ(text, "a<|endoftext|>");
}

TEST(TokensCommand, TakesMoreThanAModelReads) {
  std::string book;
  while (book.size() <= Prompt::kMaxBytes) book += " grandmother";
  EXPECT_THAT(lines_of(succeed({"tokens", "--prompt-file", "-"}, book)).back(),
              HasSubstr(std::to_string(book.size())));
  EXPECT_THAT(run_command({"predict", "--prompt-file", "-"}, book).err,
              HasSubstr(std::to_string(Prompt::kMaxBytes)));
}

TEST(Csv, BeginsWithAByteOrderMarkIfAsked) {
  const std::string mark = "\xef\xbb\xbf";
  const Words csv{"--out", "-", "--format", "csv"}, prompt{"--prompt", "a b"};
  for (const Words& command : {Words{"metrics"} + csv + prompt, Words{"plot", "heads"} + csv + prompt,
                               Words{"sweep"} + csv + prompt})
    EXPECT_EQ(succeed(command + Words{"--bom"}), mark + succeed(command)) << command.front();
  EXPECT_THAT(wrong_use(Words{"metrics", "--bom"} + prompt), HasSubstr("--bom is for CSV"));
  EXPECT_THAT(wrong_use(Words{"plot", "heads", "--bom", "--out", "a.png"} + prompt),
              HasSubstr("--bom is for CSV"));
}

TEST(MetricsCommand, WhatDoesNotExistIsNone) {
  EXPECT_THAT(succeed({"metrics", "--prompt", "A robot must", "--top", "1"}), HasSubstr("none"));
  const json answer = json::parse(succeed({"metrics", "--prompt", "A robot must", "--json"}));
  EXPECT_TRUE(answer["heads"][0]["induction"].is_null());
  EXPECT_THAT(fail({"metrics", "--repeated", "1,200"}), HasSubstr("twice 127 at most"));
}

TEST(SearchCommand, IsParsed) {
  const auto plain = parsed<SearchCommand>({"search", "--prompts", "p"});
  EXPECT_EQ(plain.search.from.kind, Kind::any);
  EXPECT_EQ(plain.top, 20);
  const auto full =
      parsed<SearchCommand>({"search", "--prompt", "x", "--from", "@-1", "--to", "@-1", "--above", "0.25",
                             "--heads", "5.1,0.7,5.1", "--top", "3", "--json"});
  EXPECT_EQ(full.search.from, (TokenSelector{Kind::from_end, "", 1}));
  EXPECT_EQ(full.search.to, (TokenSelector{Kind::before_query, "", 1}));
  EXPECT_EQ(full.search.above, 0.25);
  ASSERT_EQ(full.search.heads.size(), 2U);
  EXPECT_EQ(full.search.heads[1].head, 7);
  const auto from = [](const char* text) {
    return parsed<SearchCommand>({"search", "--prompt", "x", "--from", text}).search.from;
  };
  EXPECT_EQ(from("@3"), (TokenSelector{Kind::position, "", 3}));
  EXPECT_EQ(from("@3+"), (TokenSelector{Kind::from_position, "", 3}));
  EXPECT_EQ(from("@@3"), (TokenSelector{Kind::text, "@3", 0}));
  for (const Words& wrong :
       {Words{"--from", "@x"}, Words{"--above", "2"}, Words{"--to", "@-1+"}, Words{"--heads", ""},
        Words{"--heads", "5."}, Words{"--heads", "a.b"}, Words{"--neurons", "3"}})
    EXPECT_THAT(wrong_use(Words{"search", "--prompt", "x"} + wrong), HasSubstr(wrong[0]));
}

TEST(SearchCommand, FindsTheLargestWeightsAndCountsAll) {
  const auto search = [](Words more) {
    more.insert(more.begin(), {"search", "--prompt", kTwice, "--json"});
    return json::parse(succeed(more));
  };
  const json all = search({"--top", "100000"});
  const json tokens = json::parse(succeed({"tokens", "--prompt", kTwice, "--json"}))["tokens"];
  const auto n = static_cast<std::int64_t>(tokens.size());
  EXPECT_EQ(all["count"], 48 * (n * (n + 1) / 2 - 1)) << "every cell but those of query 0";
  ASSERT_EQ(std::ssize(all["best"]), all["count"]);
  const json best = search({"--top", "7"})["best"];
  EXPECT_EQ(best, json(std::vector<json>(all["best"].begin(), all["best"].begin() + 7)));
  for (std::size_t i = 1; i < all["best"].size(); ++i)
    ASSERT_GE(all["best"][i - 1]["weight"].get<float>(), all["best"][i]["weight"].get<float>());

  // A narrower search finds exactly those results of the full search that match it.
  const auto fits = [&](const json& found, const auto& fit) {
    std::vector<json> expected;
    for (const json& f : all["best"])
      if (fit(f)) expected.push_back(f);
    EXPECT_EQ(found["count"], expected.size());
    expected.resize(std::min<std::size_t>(expected.size(), 20));
    EXPECT_EQ(found["best"], json(expected));
    EXPECT_FALSE(expected.empty());
  };
  fits(search({"--above", "0.5", "--to", "@-1"}), [](const json& f) {
    return f["weight"] > 0.5 && f["key"]["position"] == f["query"]["position"].get<int>() - 1;
  });
  fits(search({"--from", "one", "--to", "two", "--heads", "3.1,2.4"}), [](const json& f) {
    const bool head = (f["layer"] == 3 && f["head"] == 1) || (f["layer"] == 2 && f["head"] == 4);
    const auto is = [](const json& token, const char* word) {
      return token["text"] == word || token["text"] == std::string(" ") + word;
    };
    return head && is(f["query"], "one") && is(f["key"], "two");
  });
  fits(search({"--from", "@-1", "--to", "@2"}),
       [&](const json& f) { return f["query"]["position"] == n - 1 && f["key"]["position"] == 2; });
}

TEST(SearchCommand, FindsWhatIsLargerThanTheLeast) {
  const auto count = [](const char* above) {
    return json::parse(succeed({"search", "--json", "--prompt", kTwice, "--heads", "0.0", "--from", "@3",
                                "--to", "@1", "--edit", "L0H0.pattern[3,1]=0.5", "--above", above}))
        .at("count");
  };
  EXPECT_EQ(count("0.499"), 1);
  EXPECT_EQ(count("0.5"), 0);
}

TEST(SearchCommand, NumbersThePromptsAndSaysWhatItFoundInWords) {
  const std::string prompts = "\"one two one two\"\n\"three four three four\"\n";
  const json answer = json::parse(succeed({"search", "--prompts", "-", "--from", "four", "--json"}, prompts));
  for (const json& found : answer["best"]) EXPECT_EQ(found["prompt"], 2);
  const auto lines = lines_of(succeed({"search", "--prompts", "-", "--from", "four", "--top", "2"}, prompts));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[2], HasSubstr("·four → "));
}

TEST(SearchCommand, SaysWhatNoTokenMatches) {
  const Words search{"search", "--prompts", "-"};
  const std::string prompts = "\"one two\"\n\"three\"\n";
  EXPECT_EQ(run_command(search + Words{"--from", "two", "--to", "@1+"}, prompts).err, "");
  const std::string err = run_command(search + Words{"--from", "zzz", "--to", "@99"}, prompts).err;
  EXPECT_THAT(err, AllOf(HasSubstr("--from matches no token"), HasSubstr("--to matches no token")));
}

TEST(SearchCommand, TakesNeurons) {
  const auto neurons = parsed<SearchCommand>(
      {"search", "--prompt", "x", "--neurons", "3.17,0.5,3.17", "--above", "2.5", "--context", "3"});
  EXPECT_EQ(neurons.neurons, (std::vector<NeuronIndex>{{3, 17}, {0, 5}}));
  EXPECT_EQ(neurons.above, 2.5);
  EXPECT_EQ(neurons.context, 3);
  for (const Words& of_weights :
       {Words{"--heads", "1.1"}, Words{"--to", "@-1"}, Words{"--shape", "2.1"}, Words{"--shape-moves", "no"}})
    EXPECT_THAT(wrong_use(Words{"search", "--prompt", "x", "--neurons", "1.1"} + of_weights),
                HasSubstr(of_weights[0]));
  EXPECT_THAT(fail({"search", "--prompt", "x", "--neurons", "9.1"}), HasSubstr("has no neuron 9.1"));
  EXPECT_THAT(fail({"search", "--prompt", "x", "--heads", "9.1"}), HasSubstr("has no head 9.1"));
}

constexpr const char* kThree = "\"one two one two\"\n\"three four three four\"\n\"one king and one queen\"\n";

/// The parts of a list, sorted together, are the whole list.
TEST(SearchCommand, FindsTheLargestActivationsWhateverTheShards) {
  const Words search{"search", "--prompts", "-", "--neurons", "4.537,4.706", "--json"};
  const json whole = json::parse(succeed(search + Words{"--top", "7"}, kThree));
  ASSERT_EQ(whole["best"].size(), 7U);
  std::vector<json> parts;
  std::int64_t count = 0;
  for (const char* shard : {"1/2", "0/2"}) {
    const json part = json::parse(succeed(search + Words{"--top", "7", "--shard", shard}, kThree));
    count += part["count"].get<std::int64_t>();
    parts.insert(parts.end(), part["best"].begin(), part["best"].end());
  }
  EXPECT_EQ(count, whole["count"]);
  const auto place = [](const json& f) {
    return std::tuple(-f["activation"].get<double>(), f["prompt"].get<int>(), f["layer"].get<int>(),
                      f["neuron"].get<int>(), f["token"]["position"].get<int>());
  };
  std::ranges::sort(parts, {}, place);
  parts.resize(7);
  EXPECT_EQ(whole["best"], json(parts));
  for (const json& f : whole["best"]) {
    const int first = f["context"][0]["position"];
    const json& own = f["context"][static_cast<std::size_t>(f["token"]["position"].get<int>() - first)];
    EXPECT_EQ(own["activation"], f["activation"]);
    EXPECT_EQ(own["id"], f["token"]["id"]);
  }
}

TEST(SearchCommand, FindsTheActivationsThatTopExamplesShow) {
  const Words prompt{"--prompt", kTwice};
  const Words search = Words{"search", "--neurons", "2.17,2.30", "--top", "200", "--json"} + prompt;
  const auto rows = lines_of(succeed(Words{"plot", "top_examples", "--layer", "2", "--example-neurons",
                                           "17,30", "--out", "-", "--format", "csv"} +
                                     prompt));
  ASSERT_THAT(rows.at(0), StartsWith("layer,neuron,activation,position,"));
  const json found = json::parse(succeed(search));
  ASSERT_EQ(found["best"].size(), rows.size() - 1);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const json& best = found["best"][i - 1];
    std::istringstream row(rows[i]);
    std::vector<double> numbers(4);
    for (double& number : numbers) row >> number, row.ignore();
    EXPECT_EQ(best["neuron"], numbers[1]);
    EXPECT_EQ(best["activation"].get<float>(), static_cast<float>(numbers[2]));
    EXPECT_EQ(best["token"]["position"], numbers[3]);
  }
  const json above = json::parse(succeed(search + Words{"--above", "-0.05"}));
  const auto larger =
      std::ranges::count_if(found["best"], [](const json& best) { return best["activation"] > -0.05; });
  EXPECT_LT(larger, std::ssize(found["best"]));
  EXPECT_EQ(above["count"], larger);
}

TEST(SearchCommand, WritesWeightsInTheirContextIfAsked) {
  const Words search{"search", "--prompt", kTwice, "--heads", "2.3", "--to", "@1+", "--top", "5", "--json"};
  const json plain = json::parse(succeed(search));
  const json all = json::parse(succeed(search + Words{"--context", "2"}));
  ASSERT_EQ(all["best"].size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    json found = all["best"][i];
    for (const json& token : found["context"])
      if (token["position"] == found["key"]["position"]) {
        EXPECT_EQ(token["weight"], found["weight"]);
      }
    found.erase("context");
    EXPECT_EQ(found, plain["best"][i]);
  }
}

}  // namespace
}  // namespace headscope::app::head_commands_test
