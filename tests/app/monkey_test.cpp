// Thousands of random but reproducible events: whatever is typed, clicked, dragged and scrolled, at any
// window size, every frame can be drawn and the state stays within its limits.

#include "app/ascii.h"
#include "app/cli/engine.h"
#include "app/views/output/continuation.h"
#include "tests/app/core_fixture.h"

namespace headscope::app::monkey_test {
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
    static const std::vector<std::string> kTexts = {
        "a", " the",     "\n",  "é", "日本", "\xF0\x9F\x98\x80", "\t", "<|endoftext|>", std::string(1, '\0'),
        "9", "\xE2\x82", "\xFF"};
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
        return TextTyped{kTexts[below(static_cast<int>(kTexts.size()))]};
      case 8:  // with Alt, an option's key in any layout
        return KeyDown{Key{static_cast<char>(' ' + 1 + below(94))}, {false, below(3) == 0, true}};
      default:
        return KeyDown{static_cast<Key>(below(static_cast<int>(Key{'z'}) + 1)), modifiers()};
    }
  }

  /// A random event, which is aimed at an item as often as elsewhere.
  Event aimed(const WindowFrame& frame, const WindowPicture& window) {
    Event e = event(frame);
    auto* press = std::get_if<MouseDown>(&e);
    if (press && !window.items.empty() && below(2) == 0) {
      const viz::Rect rect = window.items[below(static_cast<int>(window.items.size()))].rect;
      press->at = rect.center();
    }
    return e;
  }

 private:
  std::mt19937 random_;
};

/// A random edit or comparison.
Action any_edit(Monkey& monkey, const Core& core) {
  static const std::vector<std::string_view> kEdits = split(
      "L1H6.z=0|L0.attn_out=mean|mask=none|L2H1.mask=10/11|positions=none|positions=0,0,-1|"
      "L3H0.scores[2,0]=null|L3H0.pattern[1,0]~=0.5|L3H0.pattern[0,9]=1|L5H7.z*=-3|"
      "L4.resid_pre[3]<-\"another text\"[1]|L4H2.pattern<-ids(1,2,3)|embed*=0|ln_final+=2|"
      "logits[*][5]=30|L2.mlp_post[*][3]=1e30|L9.z=0|nonsense",
      "|");
  static const std::vector<std::string> kTexts = {"", "A", "The king gave Mr. P", "\xFF\xFE",
                                                  "one two three four five six"};
  const int length = core.snapshot().run ? core.snapshot().run->run->length() : 1;
  const auto any = [&](const auto& list) {
    return std::string(list[monkey.below(static_cast<int>(list.size()))]);
  };
  switch (monkey.below(11)) {
    case 0:
    case 1:
      return TypeInField{Field::edits, Replace{any(kEdits)}};
    case 2:
    case 3:
      return TypeEdits{};
    case 4:
      return SetSide{static_cast<Side>(monkey.below(3))};
    case 5:
      return CompareWith{monkey.below(3) > 0, static_cast<Alignment>(monkey.below(2))};
    case 6:
      return TypeInField{monkey.below(2) == 0 ? Field::second : Field::prompt, Replace{any(kTexts)}};
    case 7:
      return SetVisibility{monkey.below(6), monkey.below(8), monkey.below(length + 9),
                           monkey.below(length + 9), monkey.below(2) == 0};
    case 8:
      return Undo{monkey.below(2) == 0};
    case 9:
      return SelectQuery{monkey.below(length) - 1};
    default:
      return ShowView{std::string(tabs()[monkey.below(static_cast<int>(tabs().size()))]->id)};
  }
}

/// The number of runs with 500 events each. HEADSCOPE_MONKEYS sets it: 200 are 100,000 events.
unsigned monkeys() {
  const char* asked = std::getenv("HEADSCOPE_MONKEYS");
  return asked ? static_cast<unsigned>(std::atoi(asked)) : 4;
}

TEST_F(CoreTest, NothingThatAPersonDoesBreaksTheWindow) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());  // exported files are written here
  for (unsigned seed = 1; seed <= monkeys(); ++seed) {
    SCOPED_TRACE(seed);
    Monkey monkey(seed);
    CoreOptions o = options("The wolf and the lamb");
    clipboard_ = "pasted";
    add_assets(o);
    Core core(std::move(o));
    core.settle();
    WindowFrame frame;
    for (int i = 0; i < 250; ++i) {
      if (i % 60 == 0) {
        frame.width = static_cast<float>(300 + monkey.below(2500));
        frame.height = static_cast<float>(200 + monkey.below(1600));
        frame.device_scale = 1.0F + 0.25F * static_cast<float>(monkey.below(5));
      }
      if (monkey.below(5) == 0) {
        core.apply(any_edit(monkey, core));
      } else {
        core.handle(monkey.aimed(frame, core.window()));
      }
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
}  // namespace headscope::app::monkey_test
