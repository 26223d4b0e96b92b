// Commands with models whose tokenizer starts texts, lacks tokens, or is missing.
#include <nlohmann/json.hpp>

#include "tests/app/command_runs.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::tokenizer_command_test {
namespace {

using nlohmann::json;

TEST(StartTokenOption, IsOnWhereTheTokenizerAddsOne) {
  const TemporaryFolder folder;
  write_other_model(folder);
  folder.write("tokenizer_config.json", R"({"add_bos_token": true})");
  for (const char* command : {"tokens", "predict"}) {
    const auto count = [&](const Words& more) {
      const json answer = json::parse(
          succeed(Words{command, "--json", "--model", folder.path().string(), "--prompt", "king"} + more));
      return std::pair(answer["tokens"].size(), answer["how"]["start_token"].get<bool>());
    };
    const std::size_t plain = count({"--no-bos"}).first;
    EXPECT_EQ(count({"--no-bos"}), std::pair(plain, false));
    EXPECT_EQ(count({"--bos"}), std::pair(plain + 1, true));
    EXPECT_EQ(count({}), std::pair(plain + 1, true));
  }
}

TEST(PaddedVocabulary, IsNamedByNumbersInAnswers) {
  const TemporaryFolder folder;
  write_other_model(folder, {.positions = 64, .vocabulary = 4100});
  const Words model{"--model", folder.path().string()};
  EXPECT_THAT(succeed(Words{"attribute", "--ids", "5,4098", "--token", "id:4099"} + model),
              HasSubstr("#4099"));
  const json answer = json::parse(succeed(Words{"predict", "--json", "--ids", "5,4098"} + model));
  EXPECT_EQ(answer["tokens"][1]["text"], "#4098");
  EXPECT_EQ(answer["tokens"][1]["bytes"], json::array());
  EXPECT_THAT(succeed(Words{"tokens", "--ids", "4098"} + model), HasSubstr("#4098"));
  EXPECT_THAT(fail(Words{"tokens", "--ids", "4100"} + model), HasSubstr("0 to 4099"));
  EXPECT_THAT(fail(Words{"attribute", "--ids", "5", "--token", "id:4100"} + model), HasSubstr("0 to 4099"));
}

TEST(ModelWithoutTokenizer, AnswersForIds) {
  const TemporaryFolder folder;
  write_other_model(folder);
  std::filesystem::remove(folder.path() / "merges.txt");
  const Words model{"--model", folder.path().string()};
  for (const char* command : {"predict", "attribute", "lens", "metrics", "generate", "tokens"}) {
    const bool needs_one = std::string_view(command) == "tokens";
    const Ran ran = run_command(Words{command, "--json", "--ids", "5,6,7"} + model);
    EXPECT_EQ(ran.status, needs_one ? 1 : 0) << command << ran.err;
    EXPECT_THAT(run_command(Words{command, "--prompt", "A king"} + model).err, HasSubstr("only vocab.json"))
        << command;
  }
}

}  // namespace
}  // namespace headscope::app::tokenizer_command_test
