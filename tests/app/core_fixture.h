#pragma once
#include <chrono>
#include <ranges>
#include <semaphore>

#include "app/window/core.h"
#include "tests/support/matchers.h"
#include "tests/support/source_folders.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {

/// The views with tabs.
inline auto all_tabs() {
  return tabs() | std::views::transform([](const View* view) -> const View& { return *view; });
}

/// Every fourth tab, for what the window does with any view.
inline auto some_tabs() {
  return std::views::iota(std::size_t{0}, tabs().size()) |
         std::views::filter([](std::size_t i) { return i % 4 == 0; }) |
         std::views::transform([](std::size_t i) -> const View& { return *tabs()[i]; });
}

/// The core with its first run computed and drawn.
class CoreFixture : public Core {
 public:
  explicit CoreFixture(CoreOptions options) : Core(std::move(options)) {
    settle();
    draw({});
  }
};

/// The whole program without a window system, on the bundled model.
class CoreTest : public ::testing::Test {
 protected:
  static std::filesystem::path bundled_folder() {
    return headscope::testing::source_dir() / "assets/models/tales";
  }

  static void SetUpTestSuite() { fonts_ = viz::Fonts::load(); }
  static void TearDownTestSuite() { fonts_.reset(); }

  static TourStop example(const std::string& title, const std::string& prompt) {
    TourStop stop;
    stop.title = title, stop.prompt = prompt;
    stop.caption.emplace_back().words = "Look at the first head.";
    return stop;
  }
  CoreOptions options(std::optional<std::string> prompt = "The old king had a daughter, and the old king") {
    CoreOptions o;
    o.window.model = bundled_folder();
    if (prompt) o.window.prompt = Prompt{*prompt, {}, false};
    o.settings.all_controls = true;  // so that each can be pressed
    o.fonts = fonts_;
    o.wake = [] { woken_.release(); };
    o.screen = &screen_;
    o.start_folder = folder_.path();
    o.get_clipboard = [this] { return clipboard_; };
    o.set_clipboard = [this](const std::string& text) { clipboard_ = text; };
    return o;
  }

  /// Settles and draws, as the window does between events.
  static const WindowPicture& shown(Core& core, float width = 1600, float height = 1000) {
    core.settle();
    WindowFrame frame;
    frame.width = width;
    frame.height = height;
    return core.draw(frame);
  }

  template <class... Actions>
  static void apply_and_show(Core& core, const Actions&... actions) {
    (core.apply(actions), ...);
    shown(core);
  }
  template <class... Events>
  static void handle_and_show(Core& core, const Events&... events) {
    (core.handle(events), ...);
    shown(core);
  }

  static const PlacedPicture& picture(const WindowPicture& window, std::string_view id) {
    for (const PlacedPicture& placed : window.pictures)
      if (placed.view->id == id) return placed;
    throw std::logic_error("no such picture");
  }

  /// The centre of a cell in the first region with this id, in window coordinates.
  static viz::Point cell(const PlacedPicture& placed, int id, int row = 0, int col = 0) {
    for (const viz::Region& region : placed.picture->regions) {
      if (region.id != id) continue;
      const viz::Point p = region.cell_rect(row, col).center();
      return {placed.where.x + p.x, placed.where.y + p.y};
    }
    throw std::logic_error("no such region");
  }

  static void click(Core& core, viz::Point at, int clicks = 1, int button = 0) {
    core.handle(MouseDown{at, button, clicks, {}});
    core.handle(MouseUp{at, button});
  }
  static void click_and_show(Core& core, viz::Point at, int clicks = 1, int button = 0) {
    click(core, at, clicks, button);
    shown(core);
  }

  /// The n-th item with that name in the last drawn window.
  static const WindowItem* find_item(const Core& core, std::string_view label, int n = 0) {
    for (const WindowItem& item : core.window().items)
      if (item.label == label && n-- == 0) return &item;
    return nullptr;
  }
  static viz::Point item(const Core& core, std::string_view label, int n = 0) {
    const WindowItem* found = find_item(core, label, n);
    if (found == nullptr) throw std::logic_error("no item " + std::string(label));
    return found->rect.center();
  }
  static void click_item(Core& core, std::string_view label, int n = 0, int clicks = 1) {
    click(core, item(core, label, n), clicks);
    core.draw({});
  }
  static void click_and_show(Core& core, std::string_view label, int n = 0, int clicks = 1) {
    click_item(core, label, n, clicks);
    shown(core);
  }

  /// Presses a key like the window system does.
  static void press(Core& core, Key key, Modifiers modifiers = {}) { core.handle(KeyDown{key, modifiers}); }
  static void press_and_show(Core& core, Key key, Modifiers modifiers = {}) {
    press(core, key, modifiers);
    shown(core);
  }
  static void type(Core& core, std::string_view text) { core.handle(TextTyped{std::string(text)}); }
  static void type_and_show(Core& core, std::string_view text) {
    type(core, text);
    shown(core);
  }

  /// Drags from one point to another, in steps.
  static void drag(Core& core, viz::Point from, viz::Point to, int button = 0) {
    constexpr int kSteps = 4;
    core.handle(MouseDown{from, button, 1, {}});
    for (int i = 1; i <= kSteps; ++i) {
      const float part = static_cast<float>(i) / kSteps;
      core.handle(MouseMove{{from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)}});
      core.draw({});
    }
    core.handle(MouseUp{to, button});
  }

  static const OptionSpec& option(std::string_view name) {
    for (const View& view : views())
      for (const OptionSpec* option : view.options)
        if (option->name == name) return *option;
    throw std::logic_error("no such option");
  }

  /// The value of an option in its type, which is int for an option with choices.
  template <class T>
  static T value(const Core& core, std::string_view name) {
    return std::get<T>(core.state().options.value(option(name)));
  }

  /// The answer to a question about the shown run; null: not known.
  template <class Q>
  static std::shared_ptr<const AnswerOf<Q>> answer(const Core& core, const Q& question) {
    const auto known = core.snapshot().answers.find(question);
    return known ? std::static_pointer_cast<const AnswerOf<Q>>(known->value) : nullptr;
  }

  /// Whether a text of the last drawn window contains the words.
  static bool says(const Core& core, std::string_view words) {
    const auto in = [&](const viz::Scene& scene) {
      return std::ranges::any_of(scene.items, [&](const viz::Item& item) {
        const auto* text = std::get_if<viz::GlyphRun>(&item);
        return text != nullptr && text->text.find(words) != std::string::npos;
      });
    };
    const WindowPicture& window = core.window();
    return std::ranges::any_of(window.scenes, in) ||
           std::ranges::any_of(window.pictures, [&](const PlacedPicture& p) { return in(p.picture->scene); });
  }

  static const std::string& prompt(const Core& core) { return core.state().prompt.edit.text; }

  /// A prompt longer than the bundled model's context.
  static std::string long_prompt() {
    std::string text;
    while (text.size() < 6000) text += "The wolf came to the door of the little house. ";
    return text;
  }

  /// Generates `tokens` tokens, or fewer if generation stops.
  static void generate(Core& core, int tokens) {
    core.apply(Generate{true});
    while (core.state().generation.running && core.state().generation.token_count < tokens) {
      core.draw({});
      while (!core.take_results()) woken_.try_acquire_for(kLongestTimer);
    }
    core.apply(Generate{false});
  }

  /// Takes results until `done`, for at most ten seconds, and draws.
  template <class Done>
  static void wait_until(Core& core, const Done& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!done() && std::chrono::steady_clock::now() < deadline)
      if (!core.take_results()) woken_.try_acquire_for(kLongestTimer);
    EXPECT_TRUE(done());
    core.draw({});
  }

  /// Released when another thread has something to draw. Timers wake nothing, so that no wait is longer than
  /// some.
  static inline std::counting_semaphore<> woken_{0};
  static constexpr std::chrono::milliseconds kLongestTimer{50};

  static inline std::shared_ptr<const viz::Fonts> fonts_;
  MemoryScreen screen_;
  TemporaryFolder folder_;
  std::string clipboard_;
};

}  // namespace headscope::app
