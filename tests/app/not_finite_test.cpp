// A model that computes NaN: commands and the window say in one sentence where that begins.

#include "app/window/core.h"
#include "tests/app/cli/command_runs.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"

namespace headscope::app::not_finite_test {
namespace {

using namespace headscope::testing;

namespace fs = std::filesystem;

constexpr char kNote[] =
    "the run has non-finite values, first seen in blocks.1.attn.hook_q, head 1, position 0";

/// A model with NaN in the queries of L1 H1.
void write_bad(const testing::TemporaryFolder& folder) {
  write_model_with_nan(folder, "h.1.attn.c_attn.bias", 5);
}

int times_said(Core& core, const std::string& words) {
  core.settle();
  WindowFrame frame;
  frame.width = 1600;
  frame.height = 1000;
  int times = 0;
  for (const viz::Scene& scene : core.draw(frame).scenes) {
    for (const viz::Item& item : scene.items) {
      if (const auto* run = std::get_if<viz::GlyphRun>(&item))
        times += run->text.find(words) != std::string::npos;
    }
  }
  return times;
}

CoreOptions options(const testing::TemporaryFolder& folder, MemoryScreen& screen) {
  CoreOptions options;
  options.screen = &screen;
  options.window.model = folder.path();
  options.window.prompt = Prompt{"The old king", {}, false};
  options.fonts = viz::Fonts::load();
  options.start_folder = folder.path();
  return options;
}

TEST(NotFiniteCommands, SayWhereNaNBegins) {
  const testing::TemporaryFolder folder;
  write_bad(folder);
  const std::string picture = (folder.path() / "a.png").string();
  const Words model{"--model", folder.path().string()};
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
  const testing::TemporaryFolder of_token;
  write_model_with_nan(of_token, "wte.weight");  // of token 0
  EXPECT_THAT(run_command({"circuit", "--ids", "0,1", "--model", of_token.path().string()}).err,
              AllOf(HasSubstr("the run has non-finite values"), Not(HasSubstr("edit"))));
}

TEST(NotFiniteWindow, SaysOnceWhereNaNBegins) {
  const testing::TemporaryFolder good, bad;
  write_other_model(good);
  write_bad(bad);
  MemoryScreen first, second;
  Core finite(options(good, first)), core(options(bad, second));
  EXPECT_EQ(times_said(finite, "non-finite"), 0);
  EXPECT_EQ(times_said(core, kNote), 1);
  EXPECT_EQ(times_said(core, "non-finite"), 1);
}

TEST(NotFiniteWindow, GeneratesNothing) {
  const testing::TemporaryFolder folder;
  write_bad(folder);
  MemoryScreen screen;
  Core core(options(folder, screen));
  times_said(core, "");
  core.handle(KeyDown{Key::g, {.ctrl = true}});
  times_said(core, "");
  EXPECT_FALSE(core.state().generation.running);
  EXPECT_EQ(core.state().prompt.edit.text, "The old king");
  EXPECT_THAT(core.state().message.text, HasSubstr("cannot sample a next token"));
}

}  // namespace
}  // namespace headscope::app::not_finite_test
