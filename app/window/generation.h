#pragma once
#include <vector>

#include "app/window/state.h"

namespace headscope::app {

/// What generating asks the run: the next token of the prompt, or of the side of a comparison that is shown,
/// where that follows the prompt.
Question next_to_generate(const UiState& state, const Snapshot& snapshot);

/// What comes next while generating: a token, drawn as soon as the model has answered for the whole prompt,
/// or why there is none. Nothing while that is not known.
std::vector<Action> generated(const UiState& state, const Snapshot& snapshot);

}  // namespace headscope::app
