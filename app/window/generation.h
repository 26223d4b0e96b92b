#pragma once
#include <vector>

#include "app/window/state.h"

namespace headscope::app {

/// The question that generation asks: the next token after the shown side of a comparison, or the prompt.
Question next_token_question(const UiState& state, const Snapshot& snapshot);

/// The next step of generation: appends a token sampled once the model has answered for the whole prompt, or
/// shows why there is none. Empty while the answer is pending.
std::vector<Action> generation_actions(const UiState& state, const Snapshot& snapshot);

}  // namespace headscope::app
