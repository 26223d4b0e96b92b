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
  bool to_toolkit = false;  ///< Dear ImGui is to hear of it: it moves or presses what has the focus
};

/// KeyDown::symbol of a key: what the layout writes on it (UTF-8; empty: nothing). Where that is not ASCII,
/// as on Cyrillic or Greek layouts, the letter or digit that a US layout has there, whose ASCII code `us_key`
/// is (GLFW's number of the key), so that commands have keys everywhere. 0: none of both.
char key_symbol(std::string_view written, int us_key);

/// What cutting, copying and pasting are, in a field with this text.
std::vector<Action> meaning_of(EditorRequest request, Field field, const TextState& edit);

/// Keys in the window as it was last drawn, without drawing: so tests need no display. What is typed goes
/// into the field that has the caret, or else into the prompt, whatever was clicked; commands have Ctrl or
/// Alt.
Meaning meaning_of(const Event& event, const UiState& state, const Snapshot& snapshot,
                   const WindowPicture& window, Moment& moment, FieldMetrics& metrics);

}  // namespace headscope::app
