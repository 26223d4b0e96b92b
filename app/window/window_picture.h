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

/// Something that answers the mouse or the keyboard.
struct WindowItem {
  std::string label;  ///< what is written on it, or of its place: "prompt", "Size −"
  viz::Rect rect;     ///< as far as its pane shows it
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
  ViewContext context;               ///< what it was made of
  std::shared_ptr<Answers> answers;  ///< whom the context asks
  viz::Rect where;
  unsigned id = 0;  ///< of its item

  /// What it was made of, with the options as they are by now.
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

/// The window as a value, but for its pixels, which Dear ImGui keeps until the next frame.
struct WindowPicture {
  std::vector<WindowItem> items;  ///< in the order of Tab
  std::vector<PlacedPicture> pictures;
  std::vector<PlacedField> fields;
  std::vector<viz::Scene> scenes;  ///< all that is written and painted beside the pictures, in its order
  int layer = 0;                   ///< the topmost there is
  Cursor cursor = Cursor::arrow;
  std::optional<viz::Rect>
      caret;  ///< one that blinks, and all that a blink changes: to be drawn again within half a second
  bool stale = false;           ///< some picture is a previous one, until its quick answers come
  bool settling = false;        ///< something found its size in this frame: to be drawn once more
  std::vector<Question> asked;  ///< by its pictures, in their order
};

/// How the fields' texts are wrapped: memos, not state.
class FieldMetrics {
 public:
  EditMetrics& of(Field field) { return of_[static_cast<std::size_t>(field)]; }

 private:
  std::array<EditMetrics, kFields> of_;
};

/// What the mouse holds.
struct Held {
  const View* view = nullptr;  ///< a picture; null: a field's text
  Field field = Field::prompt;
  TextDrag text;
  viz::Point start, last;
  bool moved = false;  ///< far enough to be no click
  int clicks = 1;      ///< 2: a double click
  int button = 0;
};

/// What is of the moment only and lasts from frame to frame: what Dear ImGui keeps for its own widgets, for
/// ours. Nothing of it is saved, shown elsewhere or computed from.
struct Moment {
  std::optional<Held> held;
  Field field = Field::prompt;           ///< that has the caret
  unsigned keyboard_item = 0;            ///< that has the keyboard in place of the field; 0: none
  unsigned focus = 0;                    ///< item that gets the keyboard in the next frame
  bool space_pressed = false;            ///< the space that comes as text next is none
  int press_clicks = 0;                  ///< of the last press of the mouse
  const View* pressed = nullptr;         ///< the picture that had the last press; null: something else had
  const View* pressed_before = nullptr;  ///< the one before, while a press is looked at
  Menu open = Menu::none;                ///< menu that opens in the next frame
  Menu menu = Menu::none;                ///< that was open in the last frame
  Menu menu_now = Menu::none;            ///< that is open in this one, as far as it is drawn
  const View* menu_view = nullptr;       ///< whose picture's menu it is
  std::vector<MenuLine> menu_lines;
  std::size_t menu_edit = 0;         ///< which edit's menu it is, of the list
  Field menu_field = Field::prompt;  ///< whose text's menu it is
  viz::Point menu_at;
  float strips = 0;  ///< height of the strips under the prompt, which stays while a picture is held
  bool close_menu = false;
  bool leave_keyboard = false;       ///< once no menu is open: typing goes on in the prompt
  std::optional<float> pane_before;  ///< width of the pane whose edge is held, as it was
  bool edits = false;                ///< whether their strip was open then
  bool second = false;               ///< and a second prompt
  Dialog dialog = Dialog::none;      ///< that was drawn last
};

}  // namespace headscope::app
