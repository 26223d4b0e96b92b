#pragma once
#include "tests/app/core_fixture.h"

namespace headscope::app {

/// The window in the hands of somebody: what the keyboard is at, by its name.
class HandsTest : public CoreTest {
 protected:
  /// The id of the item that has the keyboard, or of the field with the caret; 0: none that is shown.
  static unsigned keyboard_id(const Core& core);
  /// Its name.
  static std::string keyboard_at(const Core& core);

  /// What Tab is to stop at: all that answers in the topmost layer, in its order.
  static std::vector<std::string> stops(const Core& core);

  /// Tab until that item has the keyboard; false when it never gets it.
  static bool tab_to(Core& core, std::string_view label, Modifiers modifiers = {});
  /// Presses what the keyboard reaches under that name.
  static bool tab_and_press(Core& core, std::string_view label, Key key = Key::space);
  static void press_and_draw(Core& core, Key key, Modifiers modifiers = {}, char symbol = 0);
  static void type_and_draw(Core& core, std::string_view text);

  /// Opens the menu of a cell of a picture.
  static void open_menu(Core& core, std::string_view picture_id, int id, int row = 0, int col = 0);
  /// Clicks the first line of an open menu that begins so.
  static void click_line(Core& core, std::string_view beginning);

  /// The labels of a layer.
  static std::vector<std::string> labels(const Core& core, int layer);

  static inline const WindowFrame frame_{};
};

}  // namespace headscope::app
