#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/text/prompt_editor.h"
#include "app/views/view.h"
#include "app/window/picture_cache.h"
#include "app/window/state.h"
#include "viz/scene/scene.h"

namespace headscope::app {

struct HelpLayout;
struct PaletteEntry;

enum class Cursor { arrow, hand, text, resize_x, move };

/// Menus that open at a button or at the mouse. `focused`: the context menu of what has the keyboard, when it
/// is asked for.
enum class Menu { none, examples, models, second_model, more, stops, edit, context, focused };

/// A control, picture or field that responds to the mouse or the keyboard.
struct WindowItem {
  std::string label;  ///< its text or name: "prompt", "Size −"
  viz::Rect rect;     ///< the part that is visible in its pane
  unsigned id = 0;    ///< Dear ImGui's
  int layer = 0;      ///< 0: the window; higher: dialogs and menus above it
  bool enabled = true;
  bool hidden = false;       ///< scrolled out of its pane
  int group = 0;             ///< Tab goes from group to group, arrow keys from item to item
  bool uses_arrows = false;  ///< ← and → change its value
};

/// A view's picture in its place in the window.
struct PlacedPicture : CachedPicture {
  const View* view = nullptr;
  viz::Rect where = {};
  unsigned id = 0;  ///< id of its item

  /// The context with the current options.
  ViewContext context_with(const Options& options) const {
    ViewContext now = context;
    now.options = options;
    return now;
  }
};

/// An editable text in its place.
struct PlacedField {
  Field field = Field::prompt;
  EditorLook look;
  unsigned id = 0;
  int layer = 0;
};

/// A part of the window that a tour can point at.
struct WindowArea {
  static constexpr std::string_view kPane = "pane", kPrompt = "prompt", kEdits = "edits";
  std::string_view name;  ///< one of these, or an option's name
  viz::Rect rect;
};

/// The window as a value, without its pixels: Dear ImGui keeps those until the next frame.
struct WindowPicture {
  std::vector<WindowItem> items;  ///< in the order of Tab and the arrow keys
  std::vector<PlacedPicture> pictures;
  std::vector<PlacedField> fields;
  std::vector<WindowArea> areas;
  std::vector<viz::Rect> outlines;  ///< around what the tour's stop points at
  std::vector<viz::Rect> tags;      ///< their names, where they have any
  std::vector<viz::Scene> scenes;   ///< everything painted except the views' pictures, in order
  int layer = 0;                    ///< the topmost one
  Menu menu = Menu::none;           ///< the open one
  Cursor cursor = Cursor::arrow;
  bool caret = false;           ///< some field shows a caret, which blinks
  bool over_term = false;       ///< the mouse is over a label that the glossary explains
  bool stale = false;           ///< some picture is a previous one, waiting for quick answers
  bool settling = false;        ///< some item found its size in this frame, so it must be drawn again
  std::vector<Question> asked;  ///< by its pictures, in order
  std::vector<Action> actions;  ///< of the user, to be applied
};

/// The number of frames after which every size has settled.
inline constexpr int kMaxFrames = 4;

/// The wrapped texts of the fields: a cache, not state.
using FieldMetrics = std::map<Field, EditMetrics>;

/// Something to choose: a line of a menu or a list, or one of several buttons in a row.
struct MenuItem {
  std::string label;
  std::vector<Action> actions = {};  ///< when it is chosen
  std::string more = {};             ///< under the label
  std::string right = {};            ///< at the right end, for example a key
  std::string tip = {};
  bool marked = false;
  std::string unavailable = {};   ///< why it cannot be chosen now; empty: it can
  std::string_view heading = {};  ///< above it
  bool begins_group = false;      ///< has a line above it
};

/// A mouse press on a picture or a text, until it is released.
struct MousePress {
  std::optional<PlacedPicture> picture = {};  ///< nothing: a field's text
  Field field = Field::prompt;
  TextDrag text = {};
  MouseDown down = {};
  viz::Point last = {};  ///< where the drag was handled last
  bool moved = false;    ///< far enough to be a drag
};

/// What lasts from frame to frame but is not state, like what Dear ImGui keeps for its own widgets. Never
/// saved.
struct WidgetState {
  std::optional<MousePress> press;
  Field field = Field::prompt;    ///< the field with the caret
  unsigned keyboard_item = 0;     ///< the item with the keyboard focus; 0: the field has it
  unsigned focus = 0;             ///< the item that gets the keyboard focus in the next frame
  bool space_pressed = false;     ///< the space key pressed an item, so the space that follows is not typed
  int press_clicks = 0;           ///< number of clicks of the last mouse press
  const View* pressed = nullptr;  ///< the picture that was last pressed; null: something else was
  Menu open = Menu::none;         ///< the menu that opens in the next frame
  Menu menu = Menu::none;         ///< the menu open in the last frame
  std::vector<MenuItem> menu_items;  ///< of the context menu
  std::size_t menu_edit = 0;         ///< the edit of the open edit menu: an index of the list
  viz::Point menu_at;
  float menu_height = 0;  ///< of the open menu in the last frame
  float strips = 0;       ///< height of the bars under the prompt: fixed while a picture is dragged
  bool close_menu = false;
  bool leave_keyboard = false;   ///< return the keyboard to the field with the caret when no menu is open
  bool edits = false;            ///< whether the Edits bar was open in the last frame
  bool second = false;           ///< the same for the second prompt
  Dialog dialog = Dialog::none;  ///< the dialog drawn last
  std::string scrolled_for;      ///< what a list was last scrolled to: see Ui::scroll_once
  std::shared_ptr<const std::vector<PaletteEntry>> found;  ///< see found_entries
  std::shared_ptr<const HelpLayout> help;                  ///< the help's content as it was last laid out
};

}  // namespace headscope::app
