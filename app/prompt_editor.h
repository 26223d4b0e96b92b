#pragma once
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "app/edit.h"
#include "viz/geometry.h"
#include "viz/imgui_player.h"
#include "viz/scene.h"
#include "viz/text.h"
#include "viz/theme.h"

namespace headscope::app {

/// The keys that the editor knows; others are the caller's (Tab too).
enum class EditorKey {
  left,
  right,
  up,
  down,
  home,
  end,
  page_up,
  page_down,
  backspace,
  del,
  insert,
  enter,
  escape,
  a,
  c,
  v,
  x,
  y,
  z,
};
struct KeyPress {
  EditorKey key = EditorKey::left;
  bool ctrl = false;
  bool shift = false;
};

/// Text typed (UTF-8 as the system gave it) or a key pressed or repeated, in the order they came: "ab",
/// backspace, "c".
using EditorEvent = std::variant<std::string, KeyPress>;

/// What happened since the last frame. Events are passed by while the editor has no focus. The mouse is read
/// from ImGui.
struct EditorInput {
  std::vector<EditorEvent> events;
  double now = 0;  ///< seconds, for the caret's blinking
};

struct Clipboard {
  std::function<std::string()> get;
  std::function<void(const std::string&)> set;
};

/// All that the editor remembers; the caller keeps it.
struct PromptEditorState {
  struct Drag {
    Unit unit = Unit::character;
    std::size_t from = 0;
  };
  EditState edit;
  bool focused = false;
  float scroll = 0;           ///< logical pixels from the top of the text
  std::optional<Drag> drag;   ///< while the mouse selects
  std::optional<float> grab;  ///< while the scrollbar is dragged: where in its thumb, logical pixels
  double blink_start = 0;     ///< the caret shows from here on
  bool follow = false;        ///< scroll to the caret at the next drawing
};

/// How it looks in this frame.
struct PromptEditorLook {
  viz::Rect rect;   ///< on the screen, ImGui units
  float scale = 1;  ///< ImGui units for a logical pixel
  const viz::Theme* theme = nullptr;
  std::shared_ptr<const viz::Fonts> fonts;
  float font_size = 14;
  std::string placeholder = "Type a prompt…";
  std::span<const std::size_t> token_starts;  ///< bytes, rising: faint ticks under the text
  std::size_t grey_from =
      std::numeric_limits<std::size_t>::max();  ///< byte from which on the text is past n_ctx
  bool animate = true;                          ///< false: the caret does not blink
};

/// What came of a frame.
struct PromptEditorOutput {
  std::vector<EditCommand> commands;  ///< already applied to the state
  bool changed = false;               ///< whether the text is another now
  bool entered = false;               ///< focus came
  bool left = false;                  ///< Esc, or a click elsewhere: focus went
  bool hovered = false;               ///< the mouse is over it (a text cursor is asked of ImGui)
  viz::Rect caret;                    ///< on the screen, ImGui units: where an input method puts its window
  std::optional<double> redraw_in;    ///< seconds until the caret blinks
};

/// Height in logical pixels of an editor that shows `rows` rows.
float prompt_editor_height(const viz::Fonts& fonts, float font_size, float rows);

/// How many rows the text takes at this look's width, at least 1: to choose a height by.
std::size_t prompt_editor_rows(const EditState& edit, EditMetrics& metrics, const PromptEditorLook& look);

/// The whole editor in one call inside an ImGui window: takes input, applies it to `state`, draws. `metrics`
/// belongs to this editor alone, and to nothing but it.
PromptEditorOutput prompt_editor(PromptEditorState& state, EditMetrics& metrics, const PromptEditorLook& look,
                                 const EditorInput& input, const Clipboard& clipboard,
                                 viz::ImguiPlayer& player);

// The parts it is made of, for callers that keep commands as their own actions.

/// Commands of the keys and text; runs copies against the clipboard at once. `left`: Esc was pressed, what
/// came after it is passed by.
struct KeyCommands {
  std::vector<EditCommand> commands;
  bool left = false;
};
KeyCommands key_commands(const EditState& edit, EditMetrics& metrics, std::span<const EditorEvent> events,
                         const Clipboard& clipboard);

/// The picture of a state: logical pixels, its origin at the look's rect. `caret_visible`: whether in the
/// blink's bright half.
viz::Scene prompt_editor_scene(const PromptEditorState& state, EditMetrics& metrics,
                               const PromptEditorLook& look, bool caret_visible);

}  // namespace headscope::app
