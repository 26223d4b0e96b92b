// Requests of headscope serve: how lines are read, and what arguments they stand for.
#include "app/cli/serve/request.h"

#include <sstream>

#include "app/cli/arguments/argument_values.h"
#include "app/cli/arguments/standard_streams.h"
#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/figure.h"
#include "model/files/file_io.h"
#include "tests/app/command_runs.h"
#include "tests/support/matchers.h"
#include "tests/support/source_folders.h"

namespace headscope::app::request_test {
namespace {

using testing::parsed;
using testing::Words;

/// A request, and what is wrong with it, a sentence.
std::pair<Request, std::string> request_of(std::string_view line) {
  Request request;
  try {
    read_request(line, request);
    with_options(request.words, request.options);
    return {request, ""};
  } catch (const UsageError& error) {
    return {request, error.what()};
  }
}

std::string problem_of(std::string_view line) {
  return request_of(line).second;
}

/// The arguments that a request stands for.
Words arguments_of(std::string_view line) {
  const auto [request, problem] = request_of(line);
  EXPECT_EQ(problem, "") << line;
  return with_options(request.words, request.options);
}

TEST(Requests, NameACommandAndItsOptions) {
  const auto [request, problem] =
      request_of(R"({"id": "a", "command": "predict", "options": {"prompt": "Once", "top": 3}})");
  EXPECT_EQ(problem, "");
  EXPECT_EQ(request.id, "\"a\"");
  EXPECT_EQ(request.input, std::nullopt);
  const auto command = parsed<PredictCommand>(with_options(request.words, request.options));
  EXPECT_EQ(command.prompt.text, "Once");
  EXPECT_EQ(command.top, 3);
}

TEST(Requests, FlagsAreTrueOrFalse) {
  EXPECT_EQ(arguments_of(R"({"command": "predict", "options": {"all-positions": true, "bos": false}})"),
            (Words{"predict", "--all-positions"}));
  EXPECT_EQ(arguments_of(R"({"command": "search", "options": {"shape-moves": false}})"),
            (Words{"search", "--shape-moves=no"}));
  EXPECT_EQ(arguments_of(R"({"command": ["plot", "metrics"], "options": {"least-first": true}})").back(),
            "--least-first=yes");
  EXPECT_THAT(problem_of(R"({"command": "predict", "options": {"top": true}})"), HasSubstr("--top takes K"));
  EXPECT_THAT(problem_of(R"({"command": "predict", "options": {"bos": "yes"}})"),
              HasSubstr("--bos takes true or false"));
}

TEST(Requests, ListsAreJoinedOrRepeatedAsTheOptionTakesThem) {
  EXPECT_EQ(arguments_of(R"({"command": "predict", "options": {"ids": [1, 2, 3]}})"),
            (Words{"predict", "--ids=1,2,3"}));
  EXPECT_EQ(
      arguments_of(R"({"command": "predict", "options": {"edit": ["L0H1.z=0", "L1H0.pattern[1,2]=0"]}})"),
      (Words{"predict", "--edit=L0H1.z=0", "--edit=L1H0.pattern[1,2]=0"}));
  EXPECT_EQ(parsed<MetricsCommand>(
                arguments_of(R"({"command": "metrics", "options": {"merge": ["a.json", "b.json"]}})"))
                .merge.size(),
            2U);
  EXPECT_THAT(problem_of(R"({"command": "trace", "options": {"hooks": ["a,b", "c"]}})"), HasSubstr("comma"));
}

TEST(Requests, ValuesNeverBecomeOtherOptions) {
  const auto command =
      parsed<PredictCommand>(arguments_of(R"({"command": "predict", "options": {"prompt": "--json"}})"));
  EXPECT_EQ(command.prompt.text, "--json");
  EXPECT_FALSE(command.json);
  EXPECT_EQ(parsed<PredictCommand>(arguments_of(R"({"command": "predict", "options": {"prompt": ""}})"))
                .prompt.text,
            "");
  for (const char* name : {"nonsense", "", "prompt=x", "--prompt", "top=1 --json", "h"})
    EXPECT_THAT(problem_of(R"({"command": "predict", "options": {")" + std::string(name) + R"(": "x"}})"),
                HasSubstr("unknown option"))
        << name;
}

TEST(Requests, WhatIsWrongIsASentence) {
  for (const std::string& line :
       std::vector<std::string>{"",
                                "predict",
                                "[]",
                                "{}",
                                R"({"command": ""} x)",
                                R"({"command": []})",
                                R"({"command": [1]})",
                                R"({"command": 7})",
                                R"({"command": "info", "option": {}})",
                                R"({"command": "info", "options": []})",
                                R"({"command": "info", "options": {"model": {}}})",
                                R"({"command": "info", "options": {"model": [[]]}})",
                                R"({"command": "info", "options": {"model": [true]}})",
                                R"({"command": "info", "options": {"model": "a\u0000b"}})",
                                R"({"command": "info", "input": [65]})",
                                R"({"command": "info", "input_base64": "YQ"})",
                                R"({"command": "info", "input_base64": "Y?=="})",
                                R"({"command": "info", "input": "a", "input_base64": 5})",
                                R"({"command": "info", "input": "a", "input_base64": "YQ=="})",
                                R"({"command": "info", "id": {}})",
                                R"({"command": "info", "id": 1.5})",
                                R"({"command": "info", "command": "info"})",
                                R"({"command": "info", "id": 1e999})",
                                "{\"command\": \"\xff\"}",
                                std::string("{\"command\": \"info\"}\0{\"command\": \"info\"}", 39),
                                std::string(100000, '[')})
    EXPECT_NE(problem_of(line), "") << line.substr(0, 100);
}

TEST(Requests, KeepTheirIdIfTheyAreJson) {
  EXPECT_EQ(request_of(R"({"options": {"id": 6}, "command": 7, "id": 7})").first.id, "7");
  EXPECT_EQ(request_of(R"({"id": "\ud83d\ude00", "input": 1})").first.id, "\"\xF0\x9F\x98\x80\"");
  EXPECT_EQ(request_of(R"({"id": 7, "command": )").first.id, "null");
  EXPECT_EQ(request_of(R"({"id": {"id": 7}, "command": 1})").first.id, "null");
}

TEST(Requests, InputIsAnyBytes) {
  EXPECT_EQ(request_of(R"({"command": "tokens", "input": "a\u0000b\n"})").first.input,
            std::string("a\0b\n", 4));
  EXPECT_EQ(request_of(R"({"command": "tokens", "input_base64": "/wA="})").first.input,
            std::string("\xff\0", 2));
  EXPECT_EQ(request_of(R"({"command": "tokens", "input_base64": "/wBh"})").first.input,
            std::string("\xff\0a", 3));
  EXPECT_EQ(request_of(R"({"command": "tokens", "input_base64": ""})").first.input, "");
}

TEST(InputLines, HaveTheLimitThatTheGuideSays) {
  EXPECT_THAT(model::read_file(headscope::testing::source_dir() / "assets/guide/python.md", 1 << 20),
              HasSubstr("longer than " + std::to_string(kMaxLineBytes >> 20) + " MiB"));
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
}

}  // namespace
}  // namespace headscope::app::request_test
