#pragma once
#include "tests/app/core_fixture.h"

namespace headscope::app {

/// The window used by mouse and keyboard, with items found by their names.
class HandsTest : public CoreTest {
 protected:
  /// The id of the item with the keyboard focus, or of the field with the caret; 0: none is shown.
  static unsigned keyboard_id(const Core& core);
  /// Its name.
  static std::string keyboard_at(const Core& core);

  /// The items that Tab should visit: the first enabled one of each group of the topmost layer, in order.
  static std::vector<std::string> stops(const Core& core);

  /// Presses Tab and arrow keys until that item has the focus; false if it never does.
  static bool tab_to(Core& core, std::string_view label, Modifiers modifiers = {});
  /// Moves the focus to an item by Tab and presses it.
  static bool tab_and_press(Core& core, std::string_view label, Key key = Key::space);
  static void press_and_draw(Core& core, Key key, Modifiers modifiers = {});
  static void type_and_draw(Core& core, std::string_view text);

  /// Opens the menu of a cell of a picture.
  static void open_menu(Core& core, std::string_view picture_id, int id, int row = 0, int col = 0);
  /// Clicks the first line of an open menu with that beginning.
  static void click_line(Core& core, std::string_view beginning);

  /// Drops a file on the window and waits for what comes of it.
  static void drop(Core& core, const std::filesystem::path& path);

  /// The edits that are on, as text.
  static std::vector<std::string> active(const Core& core);

  /// The labels of the items in a layer.
  static std::vector<std::string> labels(const Core& core, int layer);

  static inline const WindowFrame frame_{};
};

}  // namespace headscope::app
