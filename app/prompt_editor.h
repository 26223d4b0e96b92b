#pragma once
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "app/edit.h"
#include "app/event.h"
#include "viz/geometry.h"
#include "viz/scene.h"
#include "viz/text.h"
#include "viz/theme.h"

namespace headscope::app {

// An editor in the window: the prompt, or with `single_line` a field of a dialog. Pure functions between
// events, commands and pictures; what it remembers is a PromptEditorState. Lengths are logical pixels from
// the editor's upper left corner.

struct PromptEditorState {
  EditState edit;
  bool focused = false;
  float scroll = 0;  ///< how far the text is moved up
};

/// How it looks in a frame.
struct PromptEditorLook {
  viz::Rect rect;  ///< where it stands; only its size counts here
  const viz::Theme* theme = nullptr;
  std::shared_ptr<const viz::Fonts> fonts;
  float font_size = 14;
  bool single_line = false;  ///< one row that moves sideways with the caret, line breaks shown as signs
  std::string placeholder = "Type a prompt…";
  std::span<const std::size_t> token_starts = {};  ///< bytes, rising: faint ticks under the text
  std::size_t grey_from = std::numeric_limits<std::size_t>::max();  ///< the text from here on is beyond n_ctx
};

/// What a key does to the text; nothing for keys that mean something outside of it (Esc, Tab, the
/// clipboard's, Enter in a single line) or nothing at all.
std::optional<EditCommand> key_command(const KeyDown& key, bool single_line);

// Below, `metrics` knows the look from the last prompt_editor_scene() or prompt_editor_rows().

/// Where a caret put with the mouse stands: the nearest place in the nearest row, those out of sight too, so
/// that a selection that is dragged beyond an edge scrolls.
std::size_t prompt_editor_byte_at(const PromptEditorState& state, EditMetrics& metrics, viz::Point at,
                                  float font_size);

/// The farthest that the text can be scrolled.
float prompt_editor_scroll_range(const PromptEditorState& state, EditMetrics& metrics);
/// The scroll nearest to the present one that has the caret in sight: for after a command, not after the
/// wheel.
float prompt_editor_scroll_to_caret(const PromptEditorState& state, EditMetrics& metrics);
/// The caret; also where an input method puts its window.
viz::Rect prompt_editor_caret(const PromptEditorState& state, EditMetrics& metrics, float font_size);

/// Height that shows `rows` rows.
float prompt_editor_height(const viz::Fonts& fonts, float font_size, float rows);
/// How many rows the text takes at the look's width, at least 1: to choose a height by.
std::size_t prompt_editor_rows(const PromptEditorState& state, EditMetrics& metrics,
                               const PromptEditorLook& look);

/// The picture, as large as the look's rect; draws no more than the rows in sight. The caret shows where
/// there is focus.
viz::Scene prompt_editor_scene(const PromptEditorState& state, EditMetrics& metrics,
                               const PromptEditorLook& look, bool caret_visible);

}  // namespace headscope::app
