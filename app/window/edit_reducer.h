#pragma once
#include "app/window/state.h"

namespace headscope::app {

/// `apply` in place. Where it throws, the state is as far as the action came: nothing else of it is lost.
std::vector<Effect> apply_to(UiState& state, const Action& action, const Snapshot& snapshot);

// What the actions about changes of the computation, and about what it is compared with or measured on, do to
// a state; `apply` calls them.
void reduce(UiState& state, const AddEdits& action, const Snapshot& snapshot);
void reduce(UiState& state, const ToggleEdit& action, const Snapshot& snapshot);
void reduce(UiState& state, const SetPositionId& action, const Snapshot& snapshot);
void reduce(UiState& state, const PaintMask& action, const Snapshot& snapshot);
void reduce(UiState& state, const PaintEdit& action, const Snapshot& snapshot);
void reduce(UiState& state, const ListEdits& action, const Snapshot& snapshot);
void reduce(UiState& state, const SwitchEdits& action, const Snapshot& snapshot);
void reduce(UiState& state, const UndoEdits& action, const Snapshot& snapshot);
void reduce(UiState& state, const TypeEdits& action, const Snapshot& snapshot);
void reduce(UiState& state, const ShowEdits& action, const Snapshot& snapshot);
void reduce(UiState& state, const SetSide& action, const Snapshot& snapshot);
void reduce(UiState& state, const CompareWith& action, const Snapshot& snapshot);
void reduce(UiState& state, const CompareModel& action, const Snapshot& snapshot);
void reduce(UiState& state, const SecondOpened& action, const Snapshot& snapshot);
void reduce(UiState& state, const PromptsRead& action, const Snapshot& snapshot);

/// What a stop of a tour changes, and nothing else: its words are about that.
void change_as_said(UiState& state, const TourStop& stop, const Snapshot& snapshot);
/// When a tour is left: what was changed and compared before it did so, but for what somebody changed since.
void change_as_before(UiState& state);

/// Makes it the list, as one step that can be undone.
void become(EditsState& changes, EditList list, bool goes_on = false);

/// The prompt became another one: edits of its positions move with their tokens. Says which are gone.
void follow_tokens(UiState& state, const Prompt& before, const Snapshot& snapshot);

/// Takes out what another model does not have, and what is patched from tokens of the former one; returns how
/// many changes that were.
int keep_possible(EditList& list, const model::Config& config);

/// What a view's actions mean for the run itself where its picture was of the other side of a comparison:
/// positions are those that stand for the other's, and what only the other has is left out.
ViewActions on_own_side(ViewActions actions, const PromptRun& run);

}  // namespace headscope::app
