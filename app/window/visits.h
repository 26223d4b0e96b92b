#pragma once
#include <optional>

#include "app/window/state.h"

namespace headscope::app {

/// Puts what an action led away from before what is looked at now; a key that is held leaves one step, a
/// click that was taken back none. `replaced`: the prompt before it, where there is another one now.
void remember_visit(UiState& state, ViewState before, std::optional<Prompt> replaced, const Action& action);

}  // namespace headscope::app
