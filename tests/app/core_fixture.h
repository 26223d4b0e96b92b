#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "app/core.h"
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

  /// Middle of a cell of the first region with this role and id, in the window.
  static viz::Point cell(const PlacedPicture& placed, Role role, int id, int row = 0, int col = 0) {
    for (const viz::Region& region : placed.picture->regions) {
      if (region.role != static_cast<int>(role) || region.id != id) continue;
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

  static inline std::shared_ptr<const viz::Fonts> fonts_;
  headscope::testing::TemporaryFolder folder_;
  std::string clipboard_;
};

}  // namespace headscope::app
