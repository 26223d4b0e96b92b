#pragma once
#include <string>
#include <vector>

#include "app/run/edits/edit_list.h"
#include "app/window/state/slice.h"

namespace headscope::app {

/// The edits of the computation.
struct EditsState {
  EditList list;
  std::vector<EditList> before, after;  ///< for undoing, the nearest last
  bool pulling = false;                 ///< the last step comes from a slider that is still held
  bool painting = false;                ///< the last step comes from a drag that still paints
  bool open = false;                    ///< the Edits bar is shown even without edits
  TextField typed;                      ///< the next edit, in the notation of parse_edits
  std::string problem;                  ///< why it cannot be added: one sentence
};

struct EditsSlice {
  EditsState edits;
};

struct AddEdits {  ///< appends them
  model::Edits edits;
};
struct ListEdits {  ///< replaces the whole list
  EditList list;
  bool pulling = false;  ///< by a slider that is still held: continues the step before
};
struct SwitchEdits {  ///< all of them, off or on
  bool off = false;
};
struct UndoEdits {
  bool forward = false;
};
struct TypeEdits {};  ///< adds what was typed
struct ShowEdits {    ///< the Edits bar, even without edits
  bool open = false;
};

void reduce(EditsSlice& s, const AddEdits& a, World& w);
void reduce(EditsSlice& s, const ToggleEdit& a, World& w);
void reduce(EditsSlice& s, const SetPositionId& a, World& w);
void reduce(EditsSlice& s, const SetVisibility& a, World& w);
void reduce(EditsSlice& s, const DragEdit& a, World& w);
void reduce(EditsSlice& s, const ListEdits& a, World& w);
void reduce(EditsSlice& s, const SwitchEdits& a, World& w);
void reduce(EditsSlice& s, const UndoEdits& a, World& w);
void reduce(EditsSlice& s, const TypeEdits& a, World& w);
void reduce(EditsSlice& s, const ShowEdits& a, World& w);

/// Replaces the list as one undo step; with `goes_on` as part of the step before.
void become(EditsState& edits, EditList list, bool goes_on = false);

/// After the prompt changed: moves edits at positions with their tokens, and says which are gone.
void follow_tokens(UiState& state, const Prompt& before, const Snapshot& snapshot);

/// Removes edits that a model does not support, and patches from tokens of the previous model; returns how
/// many.
int keep_possible(EditList& list, const model::Config& config);

/// Whether the window shows the Edits bar.
inline bool shows_edits(const EditsSlice& s) {
  return s.edits.open || !s.edits.list.edits.empty();
}

}  // namespace headscope::app
