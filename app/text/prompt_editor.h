#pragma once
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "app/event.h"
#include "app/text/edit.h"
#include "viz/scene/geometry.h"
#include "viz/scene/scene.h"
#include "viz/scene/theme.h"
#include "viz/text/text.h"

namespace headscope::app {

// An editor in the window, as pure functions between events, commands and pictures: the prompt, and with
// `single_line` the fields of dialogs. Nothing in it remembers anything but EditMetrics, a memo of the
// wrapping, one for each editor.

/// Where it stands and how it looks. All lengths are logical pixels.
struct EditorLook {
  viz::Rect rect;  ///< with its frame, in the coordinates of the window, of its events and of the scene
  const viz::Theme* theme = nullptr;
  std::shared_ptr<const viz::Fonts> fonts;
  float font_size = 14;
  bool single_line = false;  ///< one row that scrolls sideways to the caret; line breaks are shown as signs
  float scroll = 0;  ///< of the text's top above the rectangle's, from clamped_scroll() or scroll_to_caret()
  bool focused = false;       ///< ring and caret
  bool caret_visible = true;  ///< see caret_blink()
  std::string placeholder = "Type a prompt…";
  std::size_t grey_from =
      std::numeric_limits<std::size_t>::max();  ///< the text from this byte on is beyond n_ctx
};

/// What a key means besides a command: things that need the world outside of the text.
enum class EditorRequest {
  copy,   ///< put state.selected() into the clipboard
  cut,    ///< as copy, then apply Erase{}
  paste,  ///< apply Insert{clipboard}
};
using KeyMeaning = std::variant<std::monostate, TextCommand, EditorRequest>;

/// What a key does in the editor; nothing for keys that are not its own (Esc, Tab, Enter in a
/// single line, with Alt, function keys). Copy
/// and cut only where something is selected.
KeyMeaning key_meaning(const TextState& state, EditMetrics& metrics, const EditorLook& look,
                       const KeyDown& key);

/// Typed text as the command that puts it in.
TextCommand typing(const TextTyped& typed);

/// What a press of the left button starts: 1 click a caret, 2 a word, 3 a line; with shift the selection
/// grows.
struct TextDrag {
  Unit unit = Unit::character;
  std::size_t from = 0;
  bool operator==(const TextDrag&) const = default;
};
TextDrag begin_text_drag(const TextState& state, EditMetrics& metrics, const EditorLook& look,
                         const MouseDown& press);
/// The selection from where the drag began to the mouse; at once after begin_text_drag() it is the click
/// itself. Beyond the upper and lower edges it selects what lies there, so that following the caret scrolls.
Select text_drag(const TextState& state, EditMetrics& metrics, const EditorLook& look, const TextDrag& drag,
                 viz::Point mouse);

/// `look.scroll` within what there is to scroll.
float clamped_scroll(const TextState& state, EditMetrics& metrics, const EditorLook& look);
/// `look.scroll` changed just enough that the caret is in sight. After commands, not after the wheel.
float scroll_to_caret(const TextState& state, EditMetrics& metrics, const EditorLook& look);
/// The scroll after turning the wheel by `dy` notches (positive: away from the user).
float scroll_by_wheel(const TextState& state, EditMetrics& metrics, const EditorLook& look, float dy);

/// How much of the text's height is in sight, and all of it, in logical pixels: for a scroll bar.
struct ScrollRange {
  float shown = 0;
  float total = 0;
};
ScrollRange scroll_range(const TextState& state, EditMetrics& metrics, const EditorLook& look);

/// The caret, in the coordinates of `look.rect`: also where an input method puts its window.
viz::Rect caret_rect(const TextState& state, EditMetrics& metrics, const EditorLook& look);

/// Height that shows `rows` rows.
float editor_height(const viz::Fonts& fonts, float font_size, float rows);

/// Half a second bright, half a second dark, for ten seconds from the last command or focus on; bright from
/// then on, so that a window that nobody looks at has nothing to do.
struct Blink {
  bool visible = true;
  double next = 0.5;  ///< seconds until it changes; infinite: never
};
Blink caret_blink(double seconds_since);

/// The picture; draws no more than the rows in sight.
viz::Scene editor_scene(const TextState& state, EditMetrics& metrics, const EditorLook& look);

}  // namespace headscope::app
