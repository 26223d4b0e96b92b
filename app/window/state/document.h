#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/run/edits/edit_list.h"
#include "app/run/worker.h"
#include "app/text/text_edit.h"
#include "app/tour/tour.h"
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
/// What Undo would undo or redo: "L5 H1 off", "add “ she”"; empty: nothing.
std::string undo_words(const UiState& state, bool forward);
/// Whether Undo has something to do in a field.
bool can_undo(const UiState& state, Field field, bool forward);

/// Text that is generated token by token, sampled from the model.
struct Generation {
  bool running = false;
  int token_count = 0;
  static constexpr int kMax = 200;
  std::optional<Prompt> start_prompt = {};  ///< the prompt that the last generation started from
  int seed = 0;                             ///< seed of the last generation
};

/// What belongs to the prompt, which is in the Document.
struct PromptSlice {
  bool start_token_chosen = false;  ///< else it follows the tokenizer of a model that is opened
  std::shared_ptr<const Tries> tries = std::make_shared<const Tries>();
  std::shared_ptr<const PromptList> prompts = {};  ///< for views that can show a list of prompts; null: none
  Generation generation;
  std::vector<TourStop> examples;        ///< prompts, what they select, and what to look for
  bool example_waits = false;            ///< its query and key are found when a model is open
  std::filesystem::path examples_model;  ///< the model whose heads the examples name; empty: any
};

struct TypeInField {
  Field field = Field::prompt;
  TextCommand command;
};
struct Paste {  ///< inserts the clipboard into a field
  Field field = Field::prompt;
};
struct ShowExample {  ///< an example's prompt, which can be undone, and its head, query and key
  int index = 0;
};
struct SetStartToken {
  bool on = false;
};
struct Generate {
  bool on = false;
};
struct PromptsRead {  ///< a list of prompts was read from a file
  std::shared_ptr<const PromptList> prompts;
};

void reduce(UiState& s, const TypeInField& a, ReduceContext& w);
void reduce(UiState& s, const ShowExample& a, ReduceContext& w);
void reduce(UiState& s, const ShowPrompt& a, ReduceContext& w);
void reduce(UiState& s, const AppendToken& a, ReduceContext& w);
void reduce(UiState& s, const SetTokens& a, ReduceContext& w);
void reduce(UiState& s, const SetStartToken& a, ReduceContext& w);
void reduce(UiState& s, const Generate& a, ReduceContext& w);
void reduce(UiState& s, const PromptsRead& a, ReduceContext& w);

/// Scrolls a field.
Action scroll_field(Field field, float to);

/// The example whose prompt is shown; null: none.
const TourStop* shown_example(const UiState& state);
/// Selects the tokens of an example that was shown before a model was open, if its prompt is still there and
/// no tour is open.
void select_waiting_example(UiState& s, const Snapshot& snapshot);
/// The prompt as typed, without edits.
Prompt prompt_without_edits(const Document& document);
/// Call after a field's text has changed.
void field_changed(UiState& s, Field field);
/// Call after the prompt has changed: ends generating, and drops what belongs to the previous one.
void prompt_changed(UiState& s);
/// Says that a text is too long for its field.
void refuse_text(UiState& s);
/// Replaces what was typed, and resets the options that belong to one prompt.
void replace_prompt(UiState& s, const Prompt& prompt, ReduceContext& w);

struct ComparisonSlice {
  Side side = Side::run;             ///< which side of the comparison is shown
  std::uint64_t second_request = 0;  ///< incremented to reload the second model
};

struct SetSide {
  Side side = Side::run;
};
struct CompareWith {  ///< a second prompt, on or off
  bool on = false;
  Alignment alignment = Alignment::position;
};
struct CompareModel {  ///< a second model; empty: none
  std::filesystem::path folder;
};

void reduce(UiState& s, const SetSide& a, ReduceContext& w);
void reduce(UiState& s, const CompareWith& a, ReduceContext& w);
void reduce(UiState& s, const CompareModel& a, ReduceContext& w);

/// Whether generation extends the second prompt, since its side is shown.
bool continues_second(const UiState& state);
/// Whether there is a baseline: the unedited run, a second prompt or a second model.
bool has_comparison(const UiState& state);
/// Ends a comparison of a prompt with an attention file, or the reverse.
void end_mixed_comparison(UiState& state, const Snapshot& snapshot);

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

}  // namespace headscope::app
