// A model that computes NaN, in the window.

#include <cstring>

#include "app/window/core.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/source_folders.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;

constexpr char kNote[] = "non-finite values, first seen in blocks.1.attn.hook_q, head 1, position 0";

/// Writes a model with the bundled model's vocabulary, and NaN in the queries of L1 H1 if wanted.
void write_model(const testing::TemporaryFolder& folder, bool with_nan) {
  const testing::Gpt2Shape shape{.positions = 64, .vocabulary = 4096};
  std::vector<testing::RawTensor> tensors = gpt2_tensors(shape);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (testing::RawTensor& tensor : tensors) {
    if (with_nan && tensor.name == "h.1.attn.c_attn.bias") {
      std::memcpy(tensor.bytes.data() + 5 * sizeof(float), &nan, sizeof nan);
    }
  }
  write_gpt2(folder, gpt2_config(shape), tensors);
  const fs::path bundled = headscope::testing::source_dir() / "assets/models/tales";
  for (const char* name : {"vocab.json", "merges.txt"}) fs::copy_file(bundled / name, folder.path() / name);
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

TEST(NotFiniteWindow, SaysOnceWhereNaNBegins) {
  const testing::TemporaryFolder good, bad;
  write_model(good, false);
  write_model(bad, true);
  MemoryScreen first, second;
  Core finite(options(good, first)), core(options(bad, second));
  EXPECT_EQ(times_said(finite, "non-finite"), 0);
  EXPECT_EQ(times_said(core, kNote), 1);
  EXPECT_EQ(times_said(core, "non-finite"), 1);
}

TEST(NotFiniteWindow, GeneratesNothing) {
  const testing::TemporaryFolder folder;
  write_model(folder, true);
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
}  // namespace headscope::app
