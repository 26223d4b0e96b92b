#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "app/window/core.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {

/// The whole program but for the window system, on the bundled model.
class CoreTest : public ::testing::Test {
 protected:
  static std::filesystem::path bundled_folder() {
    return std::filesystem::path(HEADSCOPE_SOURCE_DIR) / "assets/models/tales";
  }

  static void SetUpTestSuite() { fonts_ = viz::Fonts::load(); }
  static void TearDownTestSuite() { fonts_.reset(); }

  CoreOptions options(std::optional<std::string> prompt = "The old king had a daughter, and the old king") {
    CoreOptions o;
    o.window.model = bundled_folder();
    if (prompt) o.window.prompt = Prompt{*prompt, {}, false};
    o.fonts = fonts_;
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

  static const PlacedPicture& picture(const WindowPicture& window, std::string_view id) {
    for (const PlacedPicture& placed : window.pictures)
      if (placed.view->id == id) return placed;
    throw std::logic_error("no such picture");
  }

  /// Middle of a cell of the first region with this id, in the window.
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

  /// The n-th of what answers under that name in the window as it was last drawn.
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

  /// A key as the window system tells of it.
  static void press(Core& core, Key key, Modifiers modifiers = {}, char symbol = 0) {
    core.handle(KeyDown{key, modifiers, symbol});
  }
  static void type(Core& core, std::string_view text) { core.handle(TextTyped{std::string(text)}); }

  /// Drags from one point to another, in steps as a hand does.
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
    const OptionSpec* found = find_option(name);
    if (found == nullptr) throw std::logic_error("no such option");
    return *found;
  }

  /// The value of an option, of its type: an int of one with choices.
  template <class T>
  static T value(const Core& core, std::string_view name) {
    return std::get<T>(core.state().options.value(option(name)));
  }

  /// What is known of a question about the run that is shown; null: nothing.
  template <class Q>
  static std::shared_ptr<const typename Q::Answer> answer(const Core& core, const Q& question) {
    const auto known = core.snapshot().answers->find(question);
    return known ? std::static_pointer_cast<const typename Q::Answer>(known->value) : nullptr;
  }

  /// Whether the window as it was last drawn has the words in one of its texts.
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

  static inline std::shared_ptr<const viz::Fonts> fonts_;
  MemoryScreen screen_;
  headscope::testing::TemporaryFolder folder_;
  std::string clipboard_;
};

}  // namespace headscope::app
