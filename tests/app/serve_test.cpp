// headscope serve: each line of its input is answered by one line, with what the command prints.
#include <nlohmann/json.hpp>

#include "tests/app/command_runs.h"
#include "tests/app/view_fixture.h"
#include "tests/support/temporary_folder.h"
#include "viz/players/base64.h"

namespace headscope::app::serve_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::lines_of;
using testing::Ran;
using testing::run_command;
using testing::Words;

/// The answers to requests, in order.
std::vector<Json> answers_to(const std::vector<std::string>& requests, const Words& more = {}) {
  std::string input;
  for (const std::string& request : requests) input += request + "\n";
  const Ran ran = run_command(testing::operator+({"serve", "--stdio"}, more), input);
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.err, "");
  std::vector<Json> answers;
  for (const std::string& line : lines_of(ran.out)) answers.push_back(Json::parse(line));
  EXPECT_EQ(answers.size(), requests.size());
  answers.resize(requests.size());
  return answers;
}

Json answer_to(const std::string& request) {
  return answers_to({request}).front();
}

/// A request with the bundled model and these options, a JSON object without its braces.
std::string request(const std::string& command, const std::string& options) {
  return R"({"id": 1, "command": )" + command + R"(, "options": {"model": )" +
         Json(testing::kBundledModel.string()).dump() + (options.empty() ? "" : ", ") + options + "}}";
}

TEST(Serve, AnswersAreWhatTheCommandPrints) {
  const std::string model = testing::kBundledModel.string(), prompt = "The cat sat on the mat. The cat";
  const std::vector<std::pair<Words, std::string>> cases{
      {{"predict", "--top", "3", "--all-positions"}, R"("top": 3, "all-positions": true)"},
      {{"tokens"}, ""},
      {{"attribute", "--token", " on"}, R"("token": " on")"},
      {{"metrics"}, ""}};
  std::vector<std::string> requests;
  for (const auto& [words, options] : cases)
    requests.push_back(request(Json(words[0]).dump(),
                               R"("prompt": ")" + prompt + "\"" + (options.empty() ? "" : ", " + options)));
  const std::vector<Json> answers = answers_to(requests);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string printed = testing::succeed(
        testing::operator+(cases[i].first, {"--model", model, "--prompt", prompt, "--json"}));
    EXPECT_EQ(answers[i]["id"], 1);
    EXPECT_EQ(answers[i]["status"], 0);
    EXPECT_EQ(answers[i]["messages"], Json::array());
    EXPECT_EQ(answers[i]["result"].dump(), Json::parse(printed).dump()) << cases[i].first[0];
  }
}

TEST(Serve, PicturesAreInTheAnswer) {
  const std::string prompt = R"("prompt": "The cat sat", "out": "-", "format": "svg")";
  const Json answer = answer_to(request(R"(["plot", "heatmap"])", prompt));
  EXPECT_EQ(answer["format"], "svg");
  EXPECT_EQ(viz::bytes_from_base64(std::string(answer["base64"])),
            testing::succeed({"plot", "heatmap", "--model", testing::kBundledModel.string(), "--prompt",
                              "The cat sat", "--out", "-", "--format", "svg"}));
  EXPECT_THAT(answer_to(request(R"("sweep")", prompt))["base64"].get<std::string>(), StartsWith("PD94bWwg"));
}

TEST(Serve, AnswersAreJsonUnlessTheRequestChoosesAnotherForm) {
  const headscope::testing::TemporaryFolder folder;
  const auto named = [&](const char* name) { return Json((folder.path() / name).string()).dump(); };
  const std::string prompt = R"("prompt": "a b a b a", )";
  for (const auto& [command, options, member] :
       {std::tuple<std::string, std::string, const char*>{"generate", R"("tokens": 2)", "result"},
        {"generate", R"("tokens": 2, "echo": true)", "text"},
        {"score", R"("top": 3)", "text"},
        {"predict", R"("json": false)", "text"},
        {"predict", R"("json": true)", "result"},
        {"predict", R"("out": "-", "format": "json")", "result"},
        {"predict", R"("out": "-", "format": "txt")", "base64"}}) {
    const Json answer = answer_to(request("\"" + command + "\"", prompt + options));
    EXPECT_EQ(answer["status"], 0) << answer.dump();
    EXPECT_TRUE(answer.contains(member)) << command << options;
  }
  for (const auto& [command, options, file] :
       {std::tuple<std::string, std::string, const char*>{"metrics", "", "m.csv"},
        {"predict", "", "p.txt"},
        {"sweep", "", "s.png"}}) {
    const Json answer = answer_to(request("\"" + command + "\"", prompt + R"("out": )" + named(file)));
    EXPECT_EQ(answer["status"], 0) << answer.dump();
    EXPECT_TRUE(std::filesystem::exists(folder.path() / file)) << file;
  }
}

TEST(Serve, AListOfPromptsComesAsInput) {
  const Json answer = answer_to(
      R"({"command": "tokens", "options": {"prompts": "-", "skip-errors": true}, "input": "\"one\"\nbad\n\"two\"\n"})");
  EXPECT_EQ(answer["status"], 0);
  EXPECT_EQ(answer["results"].size(), 2U);
  EXPECT_THAT(answer["messages"][0].get<std::string>(), StartsWith("standard input:2: "));
  EXPECT_EQ(answer["messages"].size(), 2U);
  const Json none = answer_to(R"({"command": "tokens", "options": {"prompt-file": "-"}})");
  EXPECT_EQ(none["status"], 2);
  EXPECT_THAT(none["error"].get<std::string>(), HasSubstr("\"input\""));
}

TEST(Serve, AFailureIsASentenceAndTheNextRequestIsServed) {
  const std::vector<Json> answers = answers_to({
      "nonsense",
      R"({"id": 2, "command": "fly"})",
      R"({"id": 3, "command": "predict"})",
      R"({"id": 4, "command": "predict", "options": {"prompt": "x", "model": "/nowhere"}})",
      R"({"id": 5, "command": ["plot", "heatmap"], "options": {"prompt": "x", "out": "-", "format": "png", "size": "999999x999999"}})",
      R"({"id": 6, "command": "serve", "options": {"stdio": true}})",
      R"({"id": 7, "command": ["--prompt", "x"]})",
      std::string("{\"id\": 8, \"command\": \"\xc3\x28\"}"),
      std::string(100000, '['),
      R"({"id": 10, "command": "predict", "options": {"prompt": "x", "edit": "L99H0.z=0"}})",
      R"({"id": 11, "command": "tokens", "options": {"prompt": "x"}})",
  });
  for (std::size_t i = 0; i + 1 < answers.size(); ++i) {
    const Json& answer = answers[i];
    EXPECT_NE(answer["status"], 0) << i;
    const auto error = answer["error"].get<std::string>();
    EXPECT_GT(error.size(), 10U);
    EXPECT_FALSE(error.starts_with("headscope")) << error;
    EXPECT_FALSE(answer.contains("result"));
  }
  EXPECT_EQ(answers[0]["id"], nullptr);
  EXPECT_EQ(answers[1]["id"], 2);
  EXPECT_EQ(answers[1]["status"], 2);
  EXPECT_EQ(answers[3]["status"], 1);
  EXPECT_EQ(answers[10]["status"], 0);
}

}  // namespace
}  // namespace headscope::app::serve_test
