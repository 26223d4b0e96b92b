#pragma once
#include "app/window/state.h"

// What is looked at: the selection, and what a click leaves behind.
namespace headscope::app {

void reduce(UiState& state, const SelectHead& action, const Snapshot& snapshot);
void reduce(UiState& state, const MoveHead& action, const Snapshot& snapshot);
void reduce(UiState& state, const SelectQuery& action, const Snapshot& snapshot);
void reduce(UiState& state, const MoveQuery& action, const Snapshot& snapshot);
void reduce(UiState& state, const SelectKey& action, const Snapshot& snapshot);
void reduce(UiState& state, const ScrollField& action, const Snapshot& snapshot);
void reduce(UiState& state, const TypeList& action, const Snapshot& snapshot);
void reduce(UiState& state, const BeginClick& action, const Snapshot& snapshot);
void reduce(UiState& state, const TakeBackClick& action, const Snapshot& snapshot);

/// Where pictures are scrolled to is of one query in one prompt.
void scroll_to_start(UiState& state);

}  // namespace headscope::app
