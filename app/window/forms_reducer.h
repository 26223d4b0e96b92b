#pragma once
#include <vector>

#include "app/window/state.h"

// Pictures and sessions that are written: the forms of the dialogs, and what came of it.
namespace headscope::app {

void reduce(UiState& state, const SetExport& action, const Snapshot& snapshot);
void reduce(UiState& state, std::vector<Effect>& effects, const DoExport& action, const Snapshot& snapshot);
void reduce(UiState& state, std::vector<Effect>& effects, const ExportEnded& action,
            const Snapshot& snapshot);
void reduce(UiState& state, std::vector<Effect>& effects, const SaveSession& action,
            const Snapshot& snapshot);
void reduce(UiState& state, std::vector<Effect>& effects, const SessionSaved& action,
            const Snapshot& snapshot);

/// What was said of the picture that the form would have made before.
void forget_answer(ExportForm& form);
/// Keeps the settings, once for each action.
void save(std::vector<Effect>& effects);

}  // namespace headscope::app
