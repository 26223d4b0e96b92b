// headscope serve: each line of its input is answered by one line, with what the command prints.
#include <fstream>

#include "app/cli/standard_streams.h"
#include "model/files/file_io.h"
#include "tests/app/cli/command_runs.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/source_folders.h"
#include "viz/players/base64.h"

namespace headscope::app::serve_test {
namespace {

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
}  // namespace headscope::app::serve_test
