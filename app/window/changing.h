#pragma once
#include "app/window/state.h"

namespace headscope::app {

// What the actions about changes of the computation do to a state; `apply` calls them.
void change(UiState& state, const AddEdits& action, const Snapshot& snapshot);
void change(UiState& state, const RemoveEdits& action, const Snapshot& snapshot);
void change(UiState& state, const PaintMask& action, const Snapshot& snapshot);
void change(UiState& state, const ListEdits& action, const Snapshot& snapshot);
void change(UiState& state, const SwitchEdits& action, const Snapshot& snapshot);
void change(UiState& state, const UndoEdits& action, const Snapshot& snapshot);
void change(UiState& state, const TypeEdits& action, const Snapshot& snapshot);
void change(UiState& state, const ShowChanges& action, const Snapshot& snapshot);
void change(UiState& state, const SetSide& action, const Snapshot& snapshot);
void change(UiState& state, const CompareWith& action, const Snapshot& snapshot);

/// Takes out what a model does not have; returns how many changes that were.
int keep_possible(Changes& changes, const model::Config& config);

}  // namespace headscope::app
