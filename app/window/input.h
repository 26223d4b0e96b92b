#pragma once
#include <vector>

#include "app/event.h"
#include "app/window/state.h"
#include "app/window/window_picture.h"

namespace headscope::app {

/// What an event means for the window as it was last drawn: pure, so that tests need no display. A key that
/// edits text means an edit of the field that has the focus; any other key, a command of the window.
std::vector<Action> actions_for(const Event& event, const UiState& state, const Snapshot& snapshot,
                                const WindowPicture& window, FieldMetrics& metrics);

}  // namespace headscope::app
