// The commands that are no views: generate, trace, info, views, doctor and serve.
#include <cstring>
#include <fstream>

#include "app/cli/command_line.h"
#include "app/cli/standard_streams.h"
#include "app/views/view.h"
#include "model/files/file_io.h"
#include "model/files/safetensors.h"
#include "tests/app/cli/command_runs.h"
#include "tests/app/two_models/second_model.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/source_folders.h"
#include "viz/players/base64.h"

namespace headscope::app::commands_test {
namespace {

const std::string kPrompt = "The old king had a dog";

// ---- generate ----

TEST(Generate, ContinuesThePromptByItsSeed) {
  const Words command{"generate", "--prompt", kPrompt, "--tokens", "7"};
  const std::string text = succeed(command);
  EXPECT_EQ(succeed(command), text);
  EXPECT_NE(succeed(command + Words{"--seed", "18446744073709551615"}), text);
  EXPECT_EQ(succeed(command + Words{"--echo"}), kPrompt + text);
  const Json answer = answer_of(command);
  EXPECT_EQ(answer["text"], text);
  EXPECT_EQ(answer["end"], "length");
  EXPECT_EQ(answer["how"]["sampling"],
            (Json{{"temperature", 1.0}, {"top_k", 0}, {"top_p", 1.0}, {"seed", 0}}));
  std::string prompt, generated;
  for (const Json& token : answer["tokens"]) prompt += token["text"];
  for (const Json& token : answer["generated"]) generated += token["text"];
  EXPECT_EQ(prompt, kPrompt);
  EXPECT_EQ(generated, text);
  EXPECT_THAT(answer["generated"], SizeIs(7));
}

TEST(Generate, EndsWhereTheContextIsFull) {
  std::string ids = "5";
  for (int i = 1; i < 255; ++i) ids += ",5";
  const Ran ran = run_command({"generate", "--ids", ids, "--tokens", "9", "--json"});
  EXPECT_EQ(Json::parse(ran.out)["end"], "context");
  EXPECT_THAT(ran.err, HasSubstr("stopped after 2 of 9 tokens"));
}

TEST(Generate, IsEditedToItsEnd) {
  const SecondModelFolder second;
  const Words with{"--second-model", second.path().string(), "--edit",
                   "L5.attn_out<-second; L5.mlp_out<-second"};
  std::string text = kPrompt;
  const std::string generated =
      succeed(Words{"generate", "--prompt", text, "--tokens", "4", "--temperature", "0"} + with);
  for (int i = 0; i < 4; ++i) {
    const Json next =
        answer_of(Words{"generate", "--prompt", text, "--tokens", "1", "--temperature", "0"} + with);
    text += next["text"];
  }
  EXPECT_EQ(kPrompt + generated, text);
}

// ---- trace ----

/// What a trace wrote.
struct Trace {
  TemporaryFolder folder;
  model::TensorFile file;

  explicit Trace(const Words& more) {
    const std::string out = (folder.path() / "a.safetensors").string();
    succeed(Words{"trace", "--out", out} + more);
    file = model::open_safetensors(out);
  }
  std::vector<float> values(const std::string& name) const {
    const std::vector<std::byte> bytes = file.tensors.at(name).read();
    std::vector<float> numbers(bytes.size() / sizeof(float));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }
};

TEST(Trace, HasTheHooksThatAreNamed) {
  const Trace trace({"--prompt", kPrompt, "--hooks", "blocks.2.attn.hook_pattern,logits"});
  EXPECT_EQ(trace.file.metadata.at("text"), kPrompt);
  EXPECT_THAT(trace.file.tensors, SizeIs(3)) << "tokens and two hooks";
  const auto length = static_cast<std::size_t>(trace.file.tensors.at("logits").shape[0]);
  const std::vector<float> logits = trace.values("logits");
  const Json next = answer_of({"next", "--prompt", kPrompt})["columns"];
  const std::size_t last = logits.size() / length * (length - 1);
  for (std::size_t row = 0; row < 10; ++row)
    EXPECT_EQ(logits.at(last + next["id"][row].get<std::size_t>()), next["logit"][row].get<float>());
}

TEST(Trace, HasTheGradientsThatViewsUse) {
  for (const Words& measured : {Words{"logit"}, Words{"logprob", "--token", "rank:3"}, Words{"loss"},
                                Words{"difference", "--token", " dog", "--other-token", "id:5"}}) {
    const Trace trace(Words{"--prompt", kPrompt, "--hooks", "hook_embed", "--gradients"} + measured);
    const std::vector<float> embedding = trace.values("hook_embed"),
                             gradient = trace.values("hook_embed_grad");
    const Json saliency = answer_of(Words{"saliency", "--prompt", kPrompt, "--metric"} + measured);
    const bool in_bits = measured[0] == "logprob" || measured[0] == "loss";
    const double unit = in_bits ? 1 / std::log(2.0) : 1;  // traces are in nats
    EXPECT_NEAR(std::stod(trace.file.metadata.at("gradient_metric_value")) * unit,
                saliency["facts"]["value"].get<double>(), 1e-5);
    const Json& shares = saliency["columns"]["share"];
    const auto width = static_cast<std::size_t>(trace.file.tensors.at("hook_embed").shape[1]);
    for (std::size_t position = 0; position < shares.size(); ++position) {
      double share = 0;
      for (std::size_t i = position * width; i < (position + 1) * width; ++i)
        share += static_cast<double>(embedding[i]) * static_cast<double>(gradient[i]);
      EXPECT_NEAR(share * unit, shares[position].get<double>(), 1e-4) << measured[0] << " " << position;
    }
  }
}

TEST(Trace, IsOfEditedRuns) {
  const SecondModelFolder second;
  const Words hook{"--prompt", kPrompt, "--hooks", "blocks.2.attn.hook_z"}, other{second.path().string()};
  EXPECT_EQ(Trace(hook + Words{"--second-model"} + other + Words{"--edit", "L2.z<-second"})
                .values("blocks.2.attn.hook_z"),
            Trace(hook + Words{"--model"} + other).values("blocks.2.attn.hook_z"));
  const Trace kl(hook + Words{"--gradients", "kl", "--edit", "L2H1.z=0"});
  EXPECT_EQ(kl.file.metadata.at("edits"), "L2H1.z=0");
  EXPECT_EQ(kl.file.metadata.at("gradient_metric"), "KL(baseline || run) after position 5, nats");
}

// ---- what there is ----

TEST(Info, HasTheConfigurationParametersAndWarnings) {
  const TemporaryFolder folder;
  write_model_with_warnings(folder);
  const Words info{"info", "--model", folder.path().string()};
  EXPECT_THAT(run_command(info).out,
              AllOf(::testing::ContainsRegex("Warning: [^\n]*h\\.7\\.ln_1\\.weight"),
                    ::testing::ContainsRegex("n_layer +2\n"), HasSubstr("wte.weight")));
  const Json json = Json::parse(run_command(info + Words{"--json"}).out);
  EXPECT_THAT(json["warnings"], SizeIs(4));
  EXPECT_EQ(json["config"]["n_head"], 2);
  std::int64_t count = 0;
  for (const Json& parameter : json["parameters"]) count += parameter["count"].get<std::int64_t>();
  EXPECT_EQ(json["parameter_count"], count);
}

TEST(Views, AreListedWithTheirOptions) {
  const Json all = answer_of({"views"})["views"];
  ASSERT_EQ(all.size(), views().size());
  const std::string text = succeed({"views"});
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i]["id"], views()[i].id);
    EXPECT_THAT(text, HasSubstr(std::string(views()[i].id) + " "));
    auto written = all[i]["options"].begin();
    for (const OptionSpec* option : views()[i].options) {
      if (option->pane_only) continue;
      ASSERT_NE(written, all[i]["options"].end()) << option->name;
      EXPECT_EQ((*written)["name"], option->name);
      EXPECT_EQ(parse_option(*option, (*written)["default"].get<std::string>()), option->default_value);
      EXPECT_EQ(written->value("most", option->high), option->high);
      ++written;
    }
    EXPECT_EQ(written, all[i]["options"].end());
  }
}

TEST(Doctor, SaysWhatItFound) {
  const Json answer = Json::parse(run_command({"doctor", "--json"}).out);
  std::set<std::string> parts;
  for (const Json& finding : answer["findings"]) {
    parts.insert(finding["part"]);
    EXPECT_EQ(finding["state"] == "ok", finding["remedy"] == "") << finding;
  }
  EXPECT_THAT(parts, UnorderedElementsAre("program", "computing", "window", "fonts", "models", "desktop"));
  EXPECT_THAT(run_command({"doctor"}).out, HasSubstr("ok       version"));
}

/// The answers to requests, in order.
std::vector<Json> answers_to(const Words& requests) {
  std::string input;
  for (const std::string& request : requests) input += request + "\n";
  std::vector<Json> answers;
  for (const std::string& line : lines_written(succeed({"serve", "--stdio"}, input)))
    answers.push_back(Json::parse(line));
  EXPECT_EQ(answers.size(), requests.size());
  answers.resize(requests.size());
  return answers;
}

std::string request(const Words& args, const Json& id = 1) {
  return Json{{"id", id}, {"args", args}}.dump();
}

TEST(Serve, AnswersAreWhatTheCommandPrints) {
  const std::vector<Words> commands{{"next", "--prompt", "The cat sat", "--json"},
                                    {"tokens", "--prompt", "--json"},
                                    {"sweep", "--prompt", "The cat sat", "--out", "-", "--format", "csv"},
                                    {"generate", "--prompt", "The cat", "--tokens", "2"},
                                    {"views", "--json"},
                                    {"lens", "--help"}};
  Words requests;
  for (const Words& command : commands) requests.push_back(request(command, command[0]));
  const std::vector<Json> answers = answers_to(requests);
  for (std::size_t i = 0; i < commands.size(); ++i)
    EXPECT_EQ(answers[i], (Json{{"id", commands[i][0]},
                                {"status", 0},
                                {"messages", Json::array()},
                                {"text", succeed(commands[i])}}));
  const Words picture{"heatmap", "--prompt", "The cat sat", "--out", "-", "--format", "png"};
  const Json drawn = answers_to({request(picture)}).front();
  EXPECT_EQ(viz::bytes_from_base64(std::string(drawn["base64"])), succeed(picture));
}

TEST(Serve, InputIsOfTheRequest) {
  const std::vector<Json> answers = answers_to(
      {R"({"args": ["tokens", "--prompts", "-", "--skip-errors", "--json"], "input": "\"one\"\nbad\n\"two\"\n"})",
       R"({"args": ["tokens", "--prompt-file", "-", "--json"], "input": "a\u0000b"})",
       R"({"args": ["tokens", "--prompt-file", "-", "--json"], "input_base64": "/wBh"})",
       R"({"args": ["tokens", "--prompt-file", "-", "--json"], "input_base64": ""})",
       R"({"args": ["tokens", "--prompt-file", "-"]})"});
  EXPECT_THAT(lines_written(answers[0]["text"]), SizeIs(2));
  EXPECT_THAT(answers[0]["messages"][0].get<std::string>(), StartsWith("standard input:2: "));
  EXPECT_THAT(answers[0]["messages"], SizeIs(2));
  const auto prompt = [](const Json& answer) {
    return Json::parse(answer["text"].get<std::string>())["how"]["prompt"];
  };
  EXPECT_EQ(prompt(answers[1]), std::string("a\0b", 3));
  EXPECT_EQ(prompt(answers[2]), std::string("\xef\xbf\xbd\0a", 5));
  EXPECT_EQ(prompt(answers[3]), "");
  EXPECT_EQ(answers[4]["status"], 2);
  EXPECT_THAT(answers[4]["error"].get<std::string>(), HasSubstr("\"input\""));
}

TEST(Serve, AFailureIsASentenceAndTheNextRequestIsServed) {
  const Words wrong{"predict",
                    "{}",
                    R"({"args": [1]})",
                    R"({"args": ["info"], "option": {}})",
                    R"({"args": ["info"], "input": [65]})",
                    R"({"args": ["info"], "input_base64": "Y?=="})",
                    R"({"args": ["info"], "input": "a", "input_base64": "YQ=="})",
                    R"({"args": ["info"], "id": {}})",
                    R"({"args": ["info"], "args": ["info"]})",
                    R"({"args": ["info", "a\u0000b"]})",
                    std::string(100000, '['),
                    R"({"args": ["fly"]})",
                    R"({"args": ["predict"]})",
                    R"({"args": ["predict", "--prompt", "x", "--model", "/nowhere"]})",
                    R"({"args": ["serve", "--stdio"]})",
                    R"({"args": ["--prompt", "x"]})"};
  std::vector<Json> answers = answers_to(wrong + Words{request({"tokens", "--prompt", "x"}, 7)});
  EXPECT_EQ(answers.back()["status"], 0);
  answers.pop_back();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_THAT((std::vector{1, 2}), Contains(answers[i]["status"].get<int>())) << wrong[i].substr(0, 80);
    const auto error = answers[i]["error"].get<std::string>();
    EXPECT_TRUE(error.size() > 10 && error.size() < 800 && !error.starts_with("headscope")) << error;
    EXPECT_EQ(std::ranges::count_if(error, [](char c) { return static_cast<unsigned char>(c) < 0x20; }), 0)
        << error;
    EXPECT_EQ(answers[i]["text"], "");
  }
}

TEST(Serve, KeepsTheIdWhateverElseIsWrong) {
  const auto id = [](const std::string& line) { return answers_to({line}).front()["id"]; };
  EXPECT_EQ(id(R"({"args": 7, "id": 7})"), 7);
  EXPECT_EQ(id(R"({"id": "\ud83d\ude00", "input": 1})"), "\xF0\x9F\x98\x80");
  EXPECT_EQ(id(R"({"id": 7, "args": )"), nullptr);
  EXPECT_EQ(id(R"({"id": {"id": 7}, "args": 1})"), nullptr);
  EXPECT_EQ(id(R"({"args": ["views"]})"), nullptr);
}

TEST(Serve, KeepsModelsAndWarnsOnce) {
  const TemporaryFolder folder;
  write_model_with_warnings(folder);
  const std::string asked = request({"next", "--prompt", "one", "--json", "--model", folder.path().string()});
  const std::vector<Json> answers = answers_to({asked, asked});
  EXPECT_THAT(answers[0]["messages"], SizeIs(4));
  EXPECT_THAT(answers[1]["messages"], SizeIs(0));
  EXPECT_EQ(answers[1]["text"], answers[0]["text"]);
}

TEST(InputLines, LongOnesAreCut) {
  std::istringstream in("12345\n\n123456\nok");
  const auto next = [&] { return next_line(in, 5).value(); };
  EXPECT_EQ(next().text, "12345");
  EXPECT_EQ(next().text, "");
  const InputLine line = next();
  EXPECT_TRUE(line.too_long);
  EXPECT_EQ(line.text, "12345");
  EXPECT_EQ(next().text, "") << "its rest";
  EXPECT_EQ(next().text, "ok");
  EXPECT_FALSE(next_line(in, 5).has_value());
  EXPECT_THAT(model::read_file(source_dir() / "assets/guide/python.md", 1 << 20),
              HasSubstr("longer than " + std::to_string(kMaxLineBytes >> 20) + " MiB"));
}

}  // namespace
}  // namespace headscope::app::commands_test
