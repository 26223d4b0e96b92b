#pragma once
#include "app/run/edits/edit_text.h"
#include "tests/app/core_fixture.h"

namespace headscope::app {

/// The window used by mouse and keyboard, with items found by their names.
class HandsTest : public CoreTest {
 protected:
  /// The id of the item with the keyboard focus, or of the field with the caret; 0: none is shown.
  static unsigned keyboard_id(const Core& core) {
    if (core.widgets().keyboard_item != 0) return core.widgets().keyboard_item;
    for (const PlacedField& field : core.window().fields)
      if (field.field == core.widgets().field && field.layer == core.window().layer) return field.id;
    return 0;
  }
  /// Its name.
  static std::string keyboard_at(const Core& core) {
    const unsigned id = keyboard_id(core);
    for (const WindowItem& item : core.window().items)
      if (item.id == id && item.id != 0) return item.label;
    return "";
  }

  /// The items that Tab should visit: the first enabled one of each group of the topmost layer, in order.
  static std::vector<std::string> stops(const Core& core) {
    std::vector<std::string> labels;
    int group = -1;
    for (const WindowItem& item : core.window().items)
      if (item.layer == core.window().layer && item.enabled && item.id != 0)
        if (std::exchange(group, item.group) != item.group) labels.push_back(item.label);
    return labels;
  }

  /// Presses Tab and arrow keys until that item has the focus; false if it never does.
  static bool tab_to(Core& core, std::string_view label, Modifiers modifiers = {}) {
    for (std::size_t i = 0; i <= core.window().items.size(); ++i) {
      if (keyboard_at(core) == label) return true;
      const auto& items = core.window().items;
      const auto at = std::ranges::find(items, keyboard_id(core), &WindowItem::id);
      const auto to = std::ranges::find_if(items, [&](const WindowItem& item) {
        return item.label == label && item.layer == core.window().layer && item.enabled;
      });
      const bool in_group = at != items.end() && to != items.end() && at->group == to->group;
      if (in_group && core.widgets().menu == Menu::none) {
        press_and_draw(core, at < to ? Key::down : Key::up);
      } else {
        press_and_draw(core, Key::tab, modifiers);
      }
    }
    return false;
  }
  /// Moves the focus to an item by Tab and presses it.
  static bool tab_and_press(Core& core, std::string_view label, Key key = Key::space) {
    if (!tab_to(core, label)) return false;
    press_and_draw(core, key);
    return true;
  }
  static void press_and_draw(Core& core, Key key, Modifiers modifiers = {}) {
    press(core, key, modifiers);
    core.draw(frame_);
  }
  static void type_and_draw(Core& core, std::string_view text) {
    type(core, text);
    core.draw(frame_);
  }
  /// Replaces the text of the field with the caret.
  static void retype(Core& core, std::string_view text) {
    press(core, Key{'a'}, {.ctrl = true});
    type_and_draw(core, text);
  }

  /// Opens the menu of a cell of a picture.
  static void open_menu(Core& core, std::string_view picture_id, int id, int row = 0, int col = 0) {
    click(core, cell(picture(core.window(), picture_id), id, row, col), 1, 1);
    core.draw(frame_);
  }
  /// Clicks the first line of an open menu with that beginning.
  static void click_line(Core& core, std::string_view beginning) {
    for (const WindowItem& line : core.window().items)
      if (line.layer > 0 && line.label.starts_with(beginning)) return click(core, line.rect.center());
  }

  /// Drops a file on the window and waits for what comes of it.
  static void drop(Core& core, const std::filesystem::path& path) {
    const std::string said = core.state().message.text;
    const auto prompts = core.state().prompts;
    const std::size_t steps = core.state().history.before.size();
    core.handle(FilesDropped{{path}});
    wait_until(core, [&] {
      return core.state().prompts != prompts || core.state().message.text != said ||
             core.state().history.before.size() != steps;
    });
    shown(core);
  }

  /// The edits that are on, as text.
  static std::vector<std::string> active(const Core& core) {
    std::vector<std::string> texts;
    for (const model::Edit& edit : core.state().edits.active()) texts.push_back(edit_text(edit));
    return texts;
  }

  /// The labels of the items in a layer.
  static std::vector<std::string> labels(const Core& core, int layer) {
    std::vector<std::string> found;
    for (const WindowItem& item : core.window().items)
      if (item.layer == layer) found.push_back(item.label);
    return found;
  }

  static inline const WindowFrame frame_{};
};

}  // namespace headscope::app
