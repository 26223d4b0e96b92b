#pragma once
#include "app/window/state.h"

// What comes of work beside the window, and what is said.
namespace headscope::app {

void reduce(UiState& state, const FolderListed& action, const Snapshot& snapshot);
void reduce(UiState& state, const ModelsFound& action, const Snapshot& snapshot);
void reduce(UiState& state, const FetchGoesOn& action, const Snapshot& snapshot);
void reduce(UiState& state, const CancelLoad& action, const Snapshot& snapshot);
void reduce(UiState& state, const ShowMessage& action, const Snapshot& snapshot);
void reduce(UiState& state, const DismissMessage& action, const Snapshot& snapshot);
void reduce(UiState& state, const Quit& action, const Snapshot& snapshot);

}  // namespace headscope::app
