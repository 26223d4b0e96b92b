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
  bool to_toolkit =
      false;  ///< the event goes to Dear ImGui, which moves the focus or presses the focused item
};

/// The key with this label in the user's layout (UTF-8), so that Ctrl+Z is on the key labelled Z. If it has
/// no label in ASCII, as on Cyrillic or Greek layouts, returns the letter or digit of the US layout, whose
/// ASCII code is `us_key` (GLFW's key number), so that commands have keys on every layout; none: neither.
Key labelled_key(std::string_view label, int us_key);

/// The actions of a request in a field with this text.
std::vector<Action> meaning_of(EditorRequest request, Field field, const TextState& edit);

/// What an event means in the window as it was last drawn. Typed text goes to the field with the caret,
/// otherwise to the prompt, wherever the focus is; commands have Ctrl or Alt.
Meaning meaning_of(const Event& event, const UiState& state, const Snapshot& snapshot,
                   const WindowPicture& window, WidgetState& widgets, FieldMetrics& metrics);

}  // namespace headscope::app
