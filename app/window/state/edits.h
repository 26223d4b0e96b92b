#pragma once
#include <string>

#include "app/run/edits/edit_list.h"
#include "app/window/state/slice.h"

namespace headscope::app {

/// How edits are made; the edits are in the Document.
struct EditsSlice {
  struct {
    bool dragging = false;  ///< the last step is by a slider or a brush that is still dragged
    bool open = false;      ///< the bar is shown even without edits
    TextField text;         ///< the next edit, in the notation of parse_edits
    std::string problem;    ///< why it cannot be added: one sentence
  } edits_bar;
};

struct AddEdits {  ///< appends them
  model::Edits edits;
};
struct ListEdits {  ///< replaces the whole list
  EditList list;
  bool dragging = false;  ///< by a slider that is still dragged: extends the last undo step
};
struct TypeEdits {};  ///< adds what was typed
struct ShowEdits {    ///< the Edits bar, even without edits
  bool open = false;
};

void reduce(UiState& s, const AddEdits& a, ReduceContext& w);
void reduce(UiState& s, const ToggleEdit& a, ReduceContext& w);
void reduce(UiState& s, const SetPositionId& a, ReduceContext& w);
void reduce(UiState& s, const SetVisibility& a, ReduceContext& w);
void reduce(UiState& s, const DragEdit& a, ReduceContext& w);
void reduce(UiState& s, const ListEdits& a, ReduceContext& w);
void reduce(UiState& s, const TypeEdits& a, ReduceContext& w);
void reduce(UiState& s, const ShowEdits& a, ReduceContext& w);

/// Call after the prompt may have changed: moves edits at positions along with their tokens, and shows which
/// were removed.
void move_with_tokens(UiState& state, const Prompt& before, const Snapshot& snapshot);

/// Removes edits that a model does not support, and patches from the previous model's tokens; returns how
/// many.
int remove_unsupported(EditList& list, const model::Config& config);

/// Whether the window shows the Edits bar.
bool shows_edits(const UiState& s);

}  // namespace headscope::app
