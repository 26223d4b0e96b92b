#pragma once
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <variant>

#include "app/event.h"
#include "app/text/text_edit.h"
#include "viz/scene/geometry.h"
#include "viz/scene/scene.h"
#include "viz/scene/theme.h"
#include "viz/text/text.h"

namespace headscope::app {

// The window's text editor, as pure functions from events to commands and pictures: for the prompt and, with
// `single_line`, for other fields. The only memory is EditMetrics, a cache of the wrapping, one per editor.

/// Place and look of an editor. All lengths are logical pixels.
struct EditorLook {
  viz::Rect rect;  ///< with its frame, in coordinates of the window
  const viz::Theme* theme = nullptr;
  std::shared_ptr<const viz::Fonts> fonts = {};
  float font_size = 14;
  bool single_line = false;   ///< one row that scrolls sideways to the caret; line breaks are drawn as signs
  float scroll = 0;           ///< how far the text is scrolled, from editor_extent() or scroll_to_caret()
  bool focused = false;       ///< ring and caret
  bool framed = true;         ///< has its own background, border and focus ring
  bool caret_visible = true;  ///< see caret_blink()
  std::string placeholder = "Type a prompt…";
  std::size_t grey_from =
      std::numeric_limits<std::size_t>::max();  ///< the text from this byte on is beyond n_ctx
};

/// What a key means if it is not a command but needs the clipboard or the history.
enum class EditorRequest {
  copy,   ///< copies state.selected() to the clipboard
  cut,    ///< like copy, then applies Erase{}
  paste,  ///< applies Insert{clipboard}
  undo,
  redo,
};
using KeyMeaning = std::variant<std::monostate, TextCommand, EditorRequest>;

/// What a key does in the editor; monostate for keys that it ignores (Esc, Tab, Enter in a single line, keys
/// with Alt, function keys). Copy and cut need a selection.
KeyMeaning key_meaning(const TextState& state, EditMetrics& metrics, const EditorLook& look,
                       const KeyDown& key);

/// Selecting with the left button: 1 click places the caret, 2 select a word, 3 a line; shift extends the
/// selection.
struct TextDrag {
  Unit unit = Unit::character;
  std::size_t from = 0;
  bool operator==(const TextDrag&) const = default;
};
TextDrag begin_text_drag(const TextState& state, EditMetrics& metrics, const EditorLook& look,
                         const MouseDown& press);
/// The selection from the start of a drag to the mouse; right after begin_text_drag() it is the click itself.
/// A mouse above or below the editor selects hidden text, so that following the caret scrolls.
Select text_drag(const TextState& state, EditMetrics& metrics, const EditorLook& look, const TextDrag& drag,
                 viz::Point mouse);

/// How the text lies in its editor, in logical pixels.
struct EditorExtent {
  std::size_t rows = 0;
  float row_height = 0;
  float scroll = 0;            ///< `look.scroll`, limited to the text
  float shown = 0, total = 0;  ///< heights of the text
};
EditorExtent editor_extent(const TextState& state, EditMetrics& metrics, const EditorLook& look);
/// `look.scroll` moved as little as needed to show the caret. For commands, not for the wheel.
float scroll_to_caret(const TextState& state, EditMetrics& metrics, const EditorLook& look);

/// The caret, in the coordinates of `look.rect`.
viz::Rect caret_rect(const TextState& state, EditMetrics& metrics, const EditorLook& look);

/// The height for `rows` rows.
float editor_height(const viz::Fonts& fonts, float font_size, float rows);

/// The caret's blink: on and off for half a second each, until ten seconds after the last command or focus;
/// then always on, so that an idle window has nothing to do.
struct Blink {
  bool visible = true;
  double next = 0.5;  ///< seconds until `visible` changes; infinite: never
};
Blink caret_blink(double seconds_since);

/// The picture of the editor; draws only visible rows.
viz::Scene editor_scene(const TextState& state, EditMetrics& metrics, const EditorLook& look);

}  // namespace headscope::app
