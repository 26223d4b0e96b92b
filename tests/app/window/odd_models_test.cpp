// Models that compute NaN, of which commands and the window say in one sentence where that begins; and
// prompts of ids in the window, for models without tokenizers and with those that start texts.
#include "tests/app/cli/command_runs.h"
#include "tests/app/core_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"

namespace headscope::app::odd_models_test {
namespace {

using namespace headscope::testing;

constexpr char kNote[] =
    "the run has non-finite values, first seen in blocks.1.attn.hook_q, head 1, position 0";

class NotFinite : public CoreTest {
 protected:
  /// A model with NaN in the queries of L1 H1.
  NotFinite() { write_model_with_nan(bad_, "h.1.attn.c_attn.bias", 5); }
  CoreOptions with_nan() {
    CoreOptions o = options("The old king");
    o.window.model = bad_.path();
    return o;
  }
  TemporaryFolder bad_;
};

TEST_F(NotFinite, CommandsSayWhereNaNBegins) {
  const std::string picture = (folder_.path() / "a.png").string();
  const Words model{"--model", bad_.path().string()};
  for (const Words& command : {Words{"predict"}, Words{"sweep"}, Words{"saliency", "--method", "integrated"},
                               Words{"circuit", "--elsewhere", "zero"}, Words{"circuit", "--out", picture},
                               Words{"shot", "--out", picture}})
    EXPECT_THAT(run_command(command + Words{"--prompt", "The old king"} + model).err, HasSubstr(kNote))
        << command[0];
  // What an edit makes NaN has no rank, and an id of NaN blames no edit.
  const Ran edited =
      run_command({"predict", "--prompt", "The king had a dog", "--edit", "L5.resid_pre*=1e38", "--json"});
  EXPECT_THAT(edited.err, HasSubstr("first seen in blocks.5.hook_resid_pre"));
  for (const auto& logit : Json::parse(edited.out)["columns"]["logit"]) EXPECT_TRUE(logit.is_null());
  const TemporaryFolder of_token;
  write_model_with_nan(of_token, "wte.weight");  // of token 0
  EXPECT_THAT(run_command({"circuit", "--ids", "0,1", "--model", of_token.path().string()}).err,
              AllOf(HasSubstr("the run has non-finite values"), Not(HasSubstr("edit"))));
}

TEST_F(NotFinite, TheWindowSaysWhereNaNBeginsAndGeneratesNothing) {
  CoreFixture finite(options()), core(with_nan());
  EXPECT_FALSE(says(finite, "non-finite"));
  EXPECT_TRUE(says(core, kNote));
  press_and_show(core, Key{'g'}, {.ctrl = true});
  EXPECT_FALSE(core.state().generation.running);
  EXPECT_EQ(prompt(core), "The old king");
  EXPECT_THAT(core.state().message.text, HasSubstr("cannot sample a next token"));
}

class IdsInWindow : public CoreTest {
 protected:
  CoreOptions options_with(const TemporaryFolder& folder, std::optional<Prompt> prompt) {
    CoreOptions o = options();
    o.window.model = folder.path();
    o.window.prompt = std::move(prompt);
    return o;
  }
};

TEST_F(IdsInWindow, AModelWithoutTokenizerTakesMoreIds) {
  const TemporaryFolder folder;
  write_other_model(folder);
  std::filesystem::remove(folder.path() / "merges.txt");
  CoreFixture core(options_with(folder, Prompt{"", {15, 4}}));
  EXPECT_EQ(prompt(core), "#15#4");
  handle_and_show(core, TextTyped{"#7"});
  EXPECT_EQ(core.snapshot().run->run->tokens, (std::vector<int>{15, 4, 7}));
  handle_and_show(core, TextTyped{"x"});
  EXPECT_THAT(core.state().message.text, HasSubstr("only vocab.json"));
}

TEST_F(IdsInWindow, MoreThanAFieldHoldsAreRefused) {
  constexpr int kLongToken = 1000;  // " Heidi"
  CoreOptions o = options();
  o.window.prompt = Prompt{"", std::vector<int>(kMaxText / 4, kLongToken)};
  CoreFixture core(std::move(o));
  EXPECT_EQ(prompt(core), "");
  EXPECT_THAT(core.state().message.text, HasSubstr("holds at most"));
}

TEST_F(IdsInWindow, TheStartTokenFollowsTheTokenizerUntilItIsChosen) {
  const TemporaryFolder folder;
  write_other_model(folder);
  folder.write("tokenizer_config.json", R"({"add_bos_token": true})");
  {
    CoreFixture core(options_with(folder, std::nullopt));
    EXPECT_TRUE(core.state().start_token);
    EXPECT_TRUE(core.snapshot().run->tokens.has_start_token);
    EXPECT_FALSE(core.settings().start_token) << "another model has its own default";
    const std::string before = prompt(core);
    type_and_show(core, "!");
    apply_and_show(core, OpenModel{bundled_folder()});
    core.settle();
    EXPECT_FALSE(core.state().start_token);
    core.apply(Undo{});
    EXPECT_EQ(prompt(core), before);
    EXPECT_FALSE(core.state().start_token) << "no step of the user's";
  }
  CoreFixture core(options_with(folder, Prompt{"A king", {}, false}));
  EXPECT_FALSE(core.state().start_token) << "--no-bos";
}

}  // namespace
}  // namespace headscope::app::odd_models_test
