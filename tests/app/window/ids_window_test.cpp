// Prompts of ids in the window, and tokenizers that start texts.
#include "tests/app/core_fixture.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::app::ids_window_test {
namespace {

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
}  // namespace headscope::app::ids_window_test
