// One way to run a prompt: what it is compared with, and which passes are made; tokenizers that do not fit
// their model, or are missing.
#include "app/run/run_prompt.h"
#include "app/run/edits/edit_text.h"
#include "app/run/prompt_run.h"
#include "model/files/error.h"
#include "model/pass/plan.h"
#include "tests/app/view_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/sentences.h"

namespace headscope::app::run_prompt_test {
namespace {

class RunPrompt : public ::testing::Test {
 protected:
  PromptRun run(const PromptToRun& what, const model::Hooks* hooks = nullptr) {
    passes_ = 0;
    return run_prompt(what, {workspace_, {}, hooks, &plan_, [this](const PassOfRun& pass) {
                               ++passes_;
                               return pass.model.transformer->forward(pass.tokens, workspace_, pass.options);
                             }});
  }
  PromptToRun what(const std::string& edits = "", const std::optional<std::string>& second = {}) const {
    PromptToRun what{.model = bundled(), .prompt = {kRobot, {}, false}};
    if (!edits.empty()) what.prompt.edits = parse_edits(edits, *bundled());
    if (second) what.second = Prompt{*second, {}, false};
    return what;
  }
  model::Workspace workspace_{1};
  KeptPlan plan_;
  int passes_ = 0;
};

TEST_F(RunPrompt, IsComparedWithTheRunWithoutItsEdits) {
  EXPECT_EQ(run(what()).baseline, nullptr) << "it has none";
  const PromptRun edited = run(what("L1H2.z=0"));
  EXPECT_EQ(passes_, 2);
  ASSERT_TRUE(edited.baseline);
  EXPECT_EQ(edited.baseline->run->plan, nullptr);
  EXPECT_TRUE(edited.baseline->prompt.edits.empty());
  EXPECT_EQ(edited.unedited, edited.baseline->run);
  PromptToRun alone = what("L1H2.z=0");
  alone.compared_with = ComparedWith::nothing;
  EXPECT_EQ(run(alone).baseline, nullptr);
  EXPECT_EQ(passes_, 1);
}

TEST_F(RunPrompt, IsComparedWithASecondPromptInTheSecondModelIfThereIsOne) {
  const PromptRun first = run(what("", "The old king"));
  EXPECT_EQ(first.baseline->tokens.length(), 3);
  EXPECT_EQ(first.aligned[5], -1);
  const auto other = std::make_shared<LoadedModel>(*bundled());
  PromptToRun in_two = what();
  in_two.second_model = other;
  const PromptRun both = run(in_two);
  EXPECT_EQ(both.baseline->model, other);
  EXPECT_EQ(both.baseline->run->tokens, both.run->tokens) << "the same prompt";
  in_two.second = Prompt{"The old king", {}, false};
  const PromptRun second = run(in_two);
  EXPECT_EQ(second.baseline->model, other);
  EXPECT_EQ(second.baseline->run->length(), 3);
}

TEST_F(RunPrompt, WatchesThePromptsOwnPassAlone) {
  int seen = 0;
  model::Hooks hooks;
  hooks.watch({model::Site::z, 0}, [&](const model::ConstActivation2d&) { ++seen; });
  PromptToRun alone = what("L1H2.z=0");
  alone.compared_with = ComparedWith::nothing;
  run(alone, &hooks);
  const int once = std::exchange(seen, 0);
  run(what("L1H2.z=0", "The old king"), &hooks);
  EXPECT_EQ(seen, once);
}

TEST_F(RunPrompt, KeepsAPlanForTheNextPromptWithTheSameEdits) {
  run(what("L1H2.z=0"));
  const auto plan = plan_.plan;
  PromptToRun next = what("L1H2.z=0");
  next.prompt.text = "The king";
  EXPECT_EQ(run(next).run->plan, plan);
  EXPECT_NE(run(what("L1H3.z=0")).run->plan, plan);
}

TEST_F(RunPrompt, RefusesOrCutsWhatIsBeyondTheContext) {
  PromptToRun longer = what();
  longer.prompt.ids.assign(static_cast<std::size_t>(bundled()->config().n_ctx) + 1, 5);
  const auto failure = [&](const PromptToRun& asked) {
    return testing::message_of<model::RunError>([&] { run(asked); });
  };
  EXPECT_THAT(failure(longer), StartsWith("the prompt has "));
  PromptToRun second = what();
  second.second = longer.prompt;
  EXPECT_THAT(failure(second), StartsWith("second prompt: the prompt has "));
  longer.cut = true;
  EXPECT_EQ(run(longer).run->length(), bundled()->config().n_ctx);
}

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
  EXPECT_EQ(tokenize(*model, {}).ids(), std::vector<int>{kTokens - 1}) << "config.json's bos_token_id";
  const auto other = load_model(whole.path(), {});
  EXPECT_NO_THROW(check_comparable(*model, *other));
  EXPECT_NO_THROW(check_comparable(*other, *model));
}

}  // namespace
}  // namespace headscope::app::run_prompt_test
