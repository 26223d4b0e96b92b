#pragma once
#include <string_view>
#include <vector>

#include "app/event.h"
#include "app/window/state.h"
#include "app/window/window_picture.h"

namespace headscope::app {

/// What a key or typed text means.
struct Meaning {
  std::vector<Action> actions;
  bool to_toolkit = false;  ///< Dear ImGui gets it: it moves the focus or presses what has it
};

/// KeyDown::symbol of a key: its label in the layout (UTF-8; empty: none). If that is not ASCII, as on
/// Cyrillic or Greek layouts, the letter or digit of a US layout, whose ASCII code is `us_key` (GLFW's number
/// of the key), so that commands have keys everywhere. 0: neither.
char key_symbol(std::string_view written, int us_key);

/// The actions of cut, copy or paste in a field with this text.
std::vector<Action> meaning_of(EditorRequest request, Field field, const TextState& edit);

/// What an event means in the window that was drawn last, without drawing. Typed text goes to the field with
/// the caret, else to the prompt, whatever was clicked; commands have Ctrl or
/// Alt.
Meaning meaning_of(const Event& event, const UiState& state, const Snapshot& snapshot,
                   const WindowPicture& window, Moment& moment, FieldMetrics& metrics);

}  // namespace headscope::app
