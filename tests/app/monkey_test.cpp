// Thousands of random events, repeatable: whatever is typed, clicked, dragged and turned, in windows of any
// size, every frame can be drawn and the state stays within its bounds.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "app/views/sampling_options.h"
#include "app/window/core.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

class Monkey {
 public:
  explicit Monkey(unsigned seed) : random_(seed) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  viz::Point point(const WindowFrame& frame) {
    return {static_cast<float>(below(static_cast<int>(frame.width) + 40) - 20),
            static_cast<float>(below(static_cast<int>(frame.height) + 40) - 20)};
  }

  Modifiers modifiers() { return {below(4) == 0, below(4) == 0, below(12) == 0}; }

  Event event(const WindowFrame& frame) {
    static const std::vector<std::string> kTexts = {"a",
                                                    " the",
                                                    "\n",
                                                    "\t",
                                                    "[",
                                                    "]",
                                                    "s",
                                                    "k",
                                                    "+",
                                                    "-",
                                                    "0",
                                                    "5",
                                                    "d",
                                                    "D",
                                                    "n",
                                                    "N",
                                                    ",",
                                                    ".",
                                                    "b",
                                                    "f",
                                                    "m",
                                                    "M",
                                                    "9",
                                                    "é",
                                                    "日本",
                                                    "\xF0\x9F\x98\x80",
                                                    "<|endoftext|>",
                                                    std::string(1, '\0'),
                                                    "\xE2\x82",
                                                    "\xFF"};
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        return MouseDown{point(frame), below(3), 1 + below(3), modifiers()};
      case 3:
        return MouseUp{point(frame), below(3)};
      case 4:
        return MouseMove{point(frame)};
      case 5:
        return MouseWheel{point(frame), 0, static_cast<float>(below(7) - 3), modifiers()};
      case 6:
      case 7:
        return TextTyped{kTexts[static_cast<std::size_t>(below(static_cast<int>(kTexts.size())))]};
      case 8:  // with Alt a view's, whatever is written on the key
        return KeyDown{Key::none, {false, below(3) == 0, true}, static_cast<char>(' ' + 1 + below(94))};
      default:
        return KeyDown{static_cast<Key>(below(static_cast<int>(Key::z) + 1)), modifiers()};
    }
  }

  /// An event that hits something: an item as often as a place beside all.
  Event aimed(const WindowFrame& frame, const WindowPicture& window) {
    Event e = event(frame);
    auto* press = std::get_if<MouseDown>(&e);
    if (press && !window.items.empty() && below(2) == 0) {
      const viz::Rect rect =
          window.items[static_cast<std::size_t>(below(static_cast<int>(window.items.size())))].rect;
      press->at = rect.center();
    }
    return e;
  }

 private:
  std::mt19937 random_;
};

TEST(Monkey, NothingThatAPersonDoesBreaksTheWindow) {
  const testing::TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());  // whatever is exported lands here
  const auto fonts = viz::Fonts::load();
  for (unsigned seed = 1; seed <= 3; ++seed) {
    Monkey monkey(seed);
    MemoryScreen screen;
    CoreOptions options;
    options.screen = &screen;
    options.window.model = std::filesystem::path(HEADSCOPE_SOURCE_DIR) / "assets/models/tales";
    options.window.prompt = Prompt{"The wolf and the lamb", {}, false};
    options.start_folder = folder.path();
    options.fonts = fonts;
    std::string clipboard = "pasted";
    options.get_clipboard = [&clipboard] { return clipboard; };
    options.set_clipboard = [&clipboard](const std::string& text) { clipboard = text; };
    Core core(std::move(options));
    core.settle();
    WindowFrame frame;
    for (int i = 0; i < 500; ++i) {
      if (i % 60 == 0) {
        frame.width = static_cast<float>(300 + monkey.below(2500));
        frame.height = static_cast<float>(200 + monkey.below(1600));
        frame.device_scale = 1.0F + 0.25F * static_cast<float>(monkey.below(5));
      }
      core.handle(monkey.aimed(frame, core.window()));
      if (monkey.below(6) == 0) core.take_results();
      if (monkey.below(40) == 0) core.settle();
      frame.pointer = monkey.point(frame);
      const WindowPicture& picture = core.draw(frame);
      ASSERT_FALSE(picture.scenes.empty());
      ASSERT_FALSE(picture.items.empty());
      if (!core.snapshot().run) continue;
      const Selection selection = clamped(core.state().selection, *core.snapshot().run);
      const auto& run = *core.snapshot().run->run;
      ASSERT_LT(selection.layer, run.config.n_layer);
      ASSERT_LT(selection.head, run.config.n_head);
      ASSERT_LT(selection.query, run.length());
      ASSERT_GE(core.state().options[kTemperature], 0.05);
    }
  }
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace headscope::app
