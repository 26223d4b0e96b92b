// A model that computes NaN: commands and the window say in one sentence where that begins.

#include "tests/app/cli/command_runs.h"
#include "tests/app/core_fixture.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"

namespace headscope::app::not_finite_test {
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

}  // namespace
}  // namespace headscope::app::not_finite_test
