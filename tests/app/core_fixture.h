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

  static void click(Core& core, viz::Point at, int clicks = 1) {
    core.handle(MouseDown{at, 0, clicks, {}});
    core.handle(MouseUp{at, 0});
  }

  /// Clicks the control whose click is an action of type T (the n-th of them).
  template <class T>
  static bool click_action(Core& core, int n = 0) {
    for (const Target& target : core.window().targets) {
      if (!target.click || !std::holds_alternative<T>(*target.click) || n-- != 0) continue;
      click(core, target.rect.center());
      return true;
    }
    return false;
  }

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
    return std::ranges::any_of(core.window().scene.items, [&](const viz::Item& item) {
      const auto* text = std::get_if<viz::GlyphRun>(&item);
      return text != nullptr && text->text.find(words) != std::string::npos;
    });
  }

  static inline std::shared_ptr<const viz::Fonts> fonts_;
  headscope::testing::TemporaryFolder folder_;
  std::string clipboard_;
};

}  // namespace headscope::app
