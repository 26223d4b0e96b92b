#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "app/run/edits/edit_list.h"
#include "app/window/state/slice.h"

namespace headscope::app {

/// What the run is compared with: a second prompt, a second model, or both.
struct SecondPrompt {
  bool on = false;  ///< a second prompt
  TextField text;
  Alignment alignment = Alignment::position;
  bool is_file = false;              ///< the text is the path of an attention file, like the open one
  std::filesystem::path model = {};  ///< the second model; empty: the same one
  bool is_set() const { return on || !model.empty(); }
};

/// What undo restores: the prompt, the edits, and what the run is compared with.
struct Document {
  TextField prompt;
  std::vector<int> ids;  ///< run instead of the prompt's text until the text is edited
  bool start_token = false;
  EditList edits;
  SecondPrompt second;
};

struct UndoSlice : Document {
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
/// The parts in which documents differ, as bits. Where their carets are does not count.
int differing_parts(const Document& a, const Document& b);
/// Adds a step to the history if the document differs from what it was before the action. Returns whether
/// that is a step of its own.
bool remember_change(UiState& state, Document before, const ReduceContext& w);
/// Call when another model was opened and the start token is set for it: removes from the history, and from
/// what comes back after a tour, what the model or attention file does not support.
void fit_history_to_model(UiState& state, const Snapshot& snapshot);

/// What Undo would undo or redo: "L5 H1 off", "add “ she”"; empty: nothing.
std::string undo_words(const UiState& state, bool forward);
/// Whether Undo has something to do in a field.
bool can_undo(const UiState& state, Field field, bool forward);

}  // namespace headscope::app
