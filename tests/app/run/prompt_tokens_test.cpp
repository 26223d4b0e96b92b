// Prompts for tokenizers that do not fit their model, or are missing.
#include "app/run/prompt_run.h"
#include "model/files/error.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/sentences.h"

namespace headscope::app::prompt_tokens_test {
namespace {

constexpr int kTokens = 4096;  // of the bundled model's tokenizer

TEST(PaddedVocabulary, HasIdsThatAreNamedByTheirNumbers) {
  const TemporaryFolder folder;
  write_other_model(folder, {.positions = 64, .vocabulary = kTokens + 4});
  const auto model = load_model(folder.path(), {});
  const PromptTokens tokens = tokenize(*model, {"", {5, kTokens + 2, 6}});
  EXPECT_EQ(tokens.labels[1], "#4098");
  EXPECT_EQ(tokens.tokens[1].start, tokens.tokens[0].end);
  EXPECT_EQ(tokens.tokens[2].start, tokens.tokens[1].start + 5);
  EXPECT_EQ(tokens.labels[0], token_label(*model->tokenizer, 5));
}

TEST(LargerTokenizer, FailsOnlyForATokenThatTheModelLacks) {
  const TemporaryFolder folder;
  write_other_model(folder);
  folder.write("added_tokens.json", R"({"[PAD]": 4096})");
  const auto model = load_model(folder.path(), {});
  EXPECT_EQ(tokenize(*model, {"A king", {}}).length(), tokenize(*bundled(), {"A king", {}}).length());
  EXPECT_THAT(message_of<model::RunError>([&] {
                tokenize(*model, {"A king[PAD]", {}});
              }),
              AllOf(HasSubstr("\"[PAD]\""), HasSubstr("4096"), HasSubstr("0 to 4095")));
}

TEST(ModelWithoutTokenizer, RunsIdsAndSaysWhyItTakesNoText) {
  const TemporaryFolder folder, whole;
  for (const TemporaryFolder* of : {&folder, &whole}) write_other_model(*of);
  std::filesystem::remove(folder.path() / "vocab.json");
  const auto model = load_model(folder.path(), {});
  EXPECT_FALSE(has_all(model->capabilities(), Capability::tokenizer));
  EXPECT_THAT(missing(*model, Capability::tokenizer), HasSubstr("only merges.txt"));
  EXPECT_THAT(model->tokenizer->warnings(), ElementsAre(HasSubstr("only merges.txt")));
  EXPECT_THAT(tokenize(*model, {"", {5, 6}}).labels, ElementsAre("#5", "#6"));
  EXPECT_EQ(tokenize(*model, {"#5#6", {}}).ids(), (std::vector<int>{5, 6}));
  EXPECT_EQ(tokenize(*model, {}).ids(), std::vector<int>{kTokens - 1}) << "config.json's bos_token_id";
  EXPECT_THAT(message_of<model::RunError>([&] {
                tokenize(*model, {"A king", {}});
              }),
              HasSubstr("only merges.txt"));
  const auto other = load_model(whole.path(), {});
  EXPECT_NO_THROW(check_comparable(*model, *other));
  EXPECT_NO_THROW(check_comparable(*other, *model));
}

TEST(StartToken, IsAddedWhereTheTokenizersFilesSayIt) {
  const TemporaryFolder folder;
  write_other_model(folder);
  folder.write("tokenizer_config.json", R"({"add_bos_token": true, "bos_token": "A"})");
  const auto model = load_model(folder.path(), {});
  const int start = bundled()->tokenizer->encode("A").at(0).id;
  for (const std::optional<bool> given : {std::optional<bool>(), std::optional(true), std::optional(false)}) {
    const PromptTokens tokens = tokenize(*model, {"king", {}, given});
    EXPECT_EQ(tokens.has_start_token, given.value_or(true));
    EXPECT_EQ(tokens.ids().front() == start, given.value_or(true));
  }
  EXPECT_FALSE(tokenize(*bundled(), {"king", {}, std::nullopt}).has_start_token);
}

}  // namespace
}  // namespace headscope::app::prompt_tokens_test
