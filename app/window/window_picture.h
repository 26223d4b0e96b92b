#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/text/prompt_editor.h"
#include "app/views/view.h"
#include "app/window/state.h"
#include "viz/scene/scene.h"

namespace headscope::app {

enum class Cursor { arrow, hand, text, resize_x, move };

/// Menus that open at a button or at the mouse.
enum class Menu {
  none,
  examples,
  models,
  second_model,
  more,
  sessions,
  stops,
  picture,
  text,
  choice,
  edit,
  edits
};

/// A control, picture or field that answers the mouse or the keyboard.
struct WindowItem {
  std::string label;  ///< its text or its name: "prompt", "Size −"
  viz::Rect rect;     ///< the part that its pane shows
  unsigned id = 0;    ///< Dear ImGui's
  int layer = 0;      ///< 0: the window; above: dialogs and menus over it
  bool enabled = true;
  bool hidden = false;  ///< scrolled out of its pane
};

/// A view's picture in its place in the window.
struct PlacedPicture {
  const View* view = nullptr;
  std::shared_ptr<const Picture> picture;
  std::shared_ptr<const std::vector<Scroll>> scrolls;
  ViewContext context;               ///< that it was built from
  std::shared_ptr<Answers> answers;  ///< that the context asks
  viz::Rect where;
  unsigned id = 0;  ///< of its item

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

/// The window as a value, without its pixels: Dear ImGui keeps those until the next frame.
struct WindowPicture {
  std::vector<WindowItem> items;  ///< in the order of Tab
  std::vector<PlacedPicture> pictures;
  std::vector<PlacedField> fields;
  std::vector<viz::Scene> scenes;  ///< everything painted but the views' pictures, in order
  int layer = 0;                   ///< the topmost one
  Cursor cursor = Cursor::arrow;
  std::optional<viz::Rect>
      caret;              ///< of the blinking caret, with all that a blink changes: drawn again at each blink
  bool stale = false;     ///< some picture is a previous one: quick answers are pending
  bool settling = false;  ///< something found its size in this frame: it has to be drawn again
  std::vector<Question> asked;  ///< by its pictures, in order
};

/// How the fields' texts are wrapped: a cache, not state.
class FieldMetrics {
 public:
  EditMetrics& of(Field field) { return of_[static_cast<std::size_t>(field)]; }

 private:
  std::array<EditMetrics, kFields> of_;
};

/// What the mouse drags or presses.
struct Held {
  const View* view = nullptr;  ///< a picture; null: a field's text
  Field field = Field::prompt;
  TextDrag text;
  viz::Point start, last;
  bool moved = false;  ///< far enough to be a drag
  int clicks = 1;      ///< 2: a double click
  int button = 0;
};

/// What lasts from frame to frame but is not state: what Dear ImGui keeps for its own widgets, for ours. None
/// of it is saved.
struct Moment {
  std::optional<Held> held;
  Field field = Field::prompt;           ///< the one with the caret
  unsigned keyboard_item = 0;            ///< the item with the keyboard focus; 0: the field has it
  unsigned focus = 0;                    ///< the item that gets the keyboard focus in the next frame
  bool space_pressed = false;            ///< the next space pressed something and is not typed
  int press_clicks = 0;                  ///< of the last mouse press
  const View* pressed = nullptr;         ///< the picture that was pressed last; null: something else
  const View* pressed_before = nullptr;  ///< the one before, during a press
  Menu open = Menu::none;                ///< the menu that opens in the next frame
  Menu menu = Menu::none;                ///< the one open in the last frame
  Menu menu_now = Menu::none;            ///< the one open in this frame, as far as it is drawn
  const View* menu_view = nullptr;       ///< the view of the open picture menu
  std::vector<MenuLine> menu_lines;
  std::size_t menu_edit = 0;         ///< the edit of the open edit menu: an index of the list
  Field menu_field = Field::prompt;  ///< the field of the open text menu
  viz::Point menu_at;
  float strips = 0;  ///< height of the bars under the prompt: fixed while a picture is dragged
  bool close_menu = false;
  bool leave_keyboard = false;       ///< when no menu is open: the keyboard goes back to the prompt
  std::optional<float> pane_before;  ///< width of the pane whose splitter is dragged, at the start
  bool edits = false;                ///< whether the Edits bar was open in the last frame
  bool second = false;               ///< and the second prompt
  Dialog dialog = Dialog::none;      ///< the one drawn last
};

}  // namespace headscope::app
