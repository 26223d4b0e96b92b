#pragma once
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/app/core_fixture.h"

namespace headscope::app {

/// The window in the hands of somebody: what the keyboard is at, by its name.
class HandsTest : public CoreTest {
 protected:
  /// The id of the item that has the keyboard, or of the field with the caret; 0: none that is shown.
  static unsigned keyboard_id(const Core& core) {
    if (core.moment().keyboard_item != 0) return core.moment().keyboard_item;
    for (const PlacedField& field : core.window().fields)
      if (field.field == core.moment().field && field.layer == core.window().layer) return field.id;
    return 0;
  }
  /// Its name.
  static std::string keyboard_at(const Core& core) {
    const unsigned id = keyboard_id(core);
    for (const WindowItem& item : core.window().items)
      if (item.id == id && item.id != 0) return item.label;
    return "";
  }

  /// What Tab is to stop at: all that answers in the topmost layer, in its order.
  static std::vector<std::string> stops(const Core& core) {
    std::vector<std::string> labels;
    for (const WindowItem& item : core.window().items)
      if (item.layer == core.window().layer && item.enabled && item.id != 0) labels.push_back(item.label);
    return labels;
  }

  /// Tab until that item has the keyboard; false when it never gets it.
  static bool tab_to(Core& core, std::string_view label, Modifiers modifiers = {}) {
    for (std::size_t i = 0; i <= core.window().items.size(); ++i) {
      if (keyboard_at(core) == label) return true;
      press(core, Key::tab, modifiers);
      core.draw(frame_);
    }
    return false;
  }
  /// Presses what the keyboard reaches under that name.
  static bool tab_and_press(Core& core, std::string_view label, Key key = Key::space) {
    if (!tab_to(core, label)) return false;
    press_and_draw(core, key);
    return true;
  }
  static void press_and_draw(Core& core, Key key, Modifiers modifiers = {}, char symbol = 0) {
    press(core, key, modifiers, symbol);
    core.draw(frame_);
  }

  static const std::string& prompt(const Core& core) { return core.state().prompt.edit.text; }

  /// The labels of a layer.
  static std::vector<std::string> labels(const Core& core, int layer) {
    std::vector<std::string> found;
    for (const WindowItem& item : core.window().items)
      if (item.layer == layer) found.push_back(item.label);
    return found;
  }

  /// Takes results until then, ten seconds at most.
  template <class Done>
  static void wait_until(Core& core, const Done& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!done() && std::chrono::steady_clock::now() < deadline) {
      core.take_results();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(done());
    core.draw(frame_);
  }

  static inline const WindowFrame frame_{};
};

}  // namespace headscope::app
