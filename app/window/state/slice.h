#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/run/edits/edit_list.h"
#include "app/run/worker.h"
#include "app/text/text_edit.h"
#include "app/views/view.h"

namespace headscope::app {

// The window's state is composed of slices (see UiState). A slice is in one header, with the actions on it
// and a `reduce` for each of them, which applies it. A `reduce` takes the state that its action can change:
// one slice, or all of them.

struct UiState;
struct ReduceContext;
class Action;

/// The states before each of a number of steps, to go back and forward through.
template <class State>
struct History {
  static constexpr std::size_t kMax = 500, kMaxBytes = std::size_t{16} << 20;
  std::vector<State> before, after;  ///< the nearest last
  int parts = 0;  ///< what the last step changed, as bits; 0: nothing, so that no other change extends it

  /// Adds a step from `state`, or with `extends` makes the last step longer. The oldest steps are dropped
  /// beyond the limits, but not this one. `bytes_of`: the size of a state.
  template <class BytesOf>
  void add(State state, bool extends, const BytesOf& bytes_of) {
    after.clear();
    if (extends && !before.empty()) return;
    before.push_back(std::move(state));
    std::size_t bytes = 0, kept = 0;
    for (auto it = before.rbegin(); it != before.rend() && kept < kMax; ++it, ++kept) {
      bytes += bytes_of(*it);
      if (bytes > kMaxBytes && kept > 0) break;
    }
    before.erase(before.begin(), before.end() - static_cast<std::ptrdiff_t>(kept));
  }
  /// Returns the state one step back or forward from `now`; nothing at the end.
  std::optional<State> step(bool forward, State now) {
    auto& from = forward ? after : before;
    if (from.empty()) return std::nullopt;
    State there = std::move(from.back());
    from.pop_back();
    (forward ? before : after).push_back(std::move(now));
    parts = 0;
    return there;
  }
};

/// A text field of the window.
enum class Field {
  prompt,
  option,
  export_path,
  export_size,
  open_path,
  edits,
  second,
  session_path,
  help,
  palette
};
constexpr std::size_t kFields = 10;

/// An edited text and how far it is scrolled.
struct TextField {
  TextState edit;
  float scroll = 0;                 ///< logical pixels
  History<TextState> history = {};  ///< unused by the prompts, which are parts of the Document
};

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
/// Call when another model was opened and the start token is set for it: removes from the history, and from
/// what comes back after a tour, what the model or attention file does not support.
void fit_history_to_model(UiState& state, const Snapshot& snapshot);

/// What Undo would undo or redo: "L5 H1 off", "add “ she”"; empty: nothing.
std::string undo_words(const UiState& state, bool forward);
/// Whether Undo has something to do in a field.
bool can_undo(const UiState& state, Field field, bool forward);

}  // namespace headscope::app
