// What a model's folder has that is not used is said by every command that loads it.
#include <nlohmann/json.hpp>

#include "tests/app/command_runs.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::warnings_command_test {
namespace {

using namespace headscope::testing;
using nlohmann::json;

class Warnings : public ::testing::Test {
 protected:
  Warnings() { write_model_with_warnings(folder_); }

  Ran run(const Words& words, const std::string& input = "") {
    return run_command(headscope::testing::operator+(words, {"--model", folder_.path().string()}), input);
  }

  TemporaryFolder folder_;
};

constexpr const char* kUnused = "h.7.ln_1.weight";

TEST_F(Warnings, EachIsALineOfItsOwnOnceForAWholeList) {
  const Ran ran = run({"predict", "--prompts", "-", "--json"}, "\"one\"\n\"two\"\n");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(lines_of(ran.out).size(), 2U);
  const std::vector<std::string> lines = lines_of(ran.err);
  EXPECT_EQ(lines.size(), 4U) << ran.err;
  EXPECT_THAT(lines, Each(StartsWith("headscope: ")));
  EXPECT_THAT(lines, Contains(HasSubstr(kUnused)));
}

TEST_F(Warnings, AreInTheJsonOfAnAnswer) {
  const json how = json::parse(run({"predict", "--prompt", "one", "--json"}).out).at("how");
  EXPECT_THAT(how.at("warnings").get<std::vector<std::string>>(),
              AllOf(SizeIs(4), Contains(HasSubstr(kUnused))));
  EXPECT_FALSE(json::parse(succeed({"predict", "--prompt", "one", "--json"})).at("how").contains("warnings"));
}

TEST_F(Warnings, OfASecondModelAreShownToo) {
  const TemporaryFolder first;
  write_other_model(first);
  const Ran ran = run_command({"predict", "--prompt", "one", "--json", "--edit", "L0.z<-second", "--model",
                               first.path().string(), "--second-model", folder_.path().string()});
  EXPECT_THAT(ran.err, HasSubstr(kUnused));
  EXPECT_THAT(json::parse(ran.out).at("how").at("warnings"), SizeIs(4));
}

TEST_F(Warnings, AreInInfo) {
  EXPECT_THAT(run({"info"}).out, ::testing::ContainsRegex("Warning: [^\n]*h\\.7\\.ln_1\\.weight"));
  const json info = json::parse(run({"info", "--json"}).out);
  EXPECT_THAT(info.at("warnings"), SizeIs(4));
  EXPECT_TRUE(info.at("notes").is_array());
}

TEST_F(Warnings, OfAPictureOfTheWindowAreShown) {
  EXPECT_THAT(run({"shot", "--prompt", "one", "--out", (folder_.path() / "a.png").string()}).err,
              HasSubstr(kUnused));
}

TEST_F(Warnings, AreToldOnceByAServer) {
  const json request = {{"command", "predict"},
                        {"options", {{"prompt", "one"}, {"model", folder_.path().string()}}}};
  const Ran ran = run_command({"serve", "--stdio"}, request.dump() + "\n" + request.dump() + "\n");
  EXPECT_EQ(ran.err, "");
  const std::vector<std::string> answers = lines_of(ran.out);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_THAT(json::parse(answers[0]).at("messages"), SizeIs(4));
  EXPECT_THAT(json::parse(answers[1]).at("messages"), SizeIs(0));
  EXPECT_THAT(json::parse(answers[1]).at("result").at("how").at("warnings"), SizeIs(4));
}

}  // namespace
}  // namespace headscope::app::warnings_command_test
