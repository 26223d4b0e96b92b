#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/run/edits/edit_list.h"
#include "app/window/state/slice.h"

namespace headscope::app {

/// What undo restores: the prompt, the edits and the second prompt.
struct Document {
  TextState prompt;
  std::vector<int> ids;
  bool start_token = false;
  EditList edits;
  TextState second;
  bool has_second = false;
  bool second_is_file = false;
  Alignment alignment = Alignment::position;
};
Document document_of(const UiState& state);

struct UndoSlice {
  History<Document> history;
  int last_parts = 0;  ///< the parts of the document that the last step changed
};

/// Undoes or redoes the typing in a field, if it has a history of its own and that is not at its end;
/// otherwise the last change of the document.
struct Undo {
  bool forward = false;
  Field field = Field::prompt;
};
void reduce(UiState& s, const Undo& a, ReduceContext& w);

/// Shows a document, except that its run is pending.
void restore(UiState& state, Document document, const Snapshot& snapshot);
/// Adds a step to the history if the document differs from what it was before the action.
void remember_change(UiState& state, Document before, const ReduceContext& w);
/// Call when another model was opened and the start token is set for it: removes from the history, and from
/// what comes back after a tour, what the model does not support.
void fit_history_to_model(UiState& state, const Snapshot& snapshot);

/// What Undo would undo or redo: "L5 H1 off", "add “ she”"; empty: nothing.
std::string undo_words(const UiState& state, bool forward);
/// Whether Undo has something to do in a field.
bool can_undo(const UiState& state, Field field, bool forward);

}  // namespace headscope::app
