#pragma once
#include <any>
#include <concepts>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "app/window/state/document.h"
#include "app/window/state/files.h"
#include "app/window/state/tours.h"
#include "app/window/state/view.h"

namespace headscope::app {

/// Everything that the user can change, as one value. Widgets hold no state.
struct UiState : UndoSlice,
                 PromptSlice,
                 ViewSlice,
                 EditsSlice,
                 ComparisonSlice,
                 TourSlice,
                 DialogSlice,
                 FileSlice,
                 ShellSlice {};

/// Actions that the core carries out.
using Effect = std::variant<DoExport, CopyNumbers, CopyText, Paste, BrowseFolder, FindModels, FetchModel,
                            SaveSession, OpenFile>;

/// What an action reads besides the state, and the effects it requests.
struct ReduceContext {
  const Snapshot& snapshot;  ///< gives the numbers of layers, heads and positions
  std::vector<Effect> effects = {};
  bool is_other_text = false;  ///< the prompt was replaced, so that edits do not move with its tokens
  bool extends_step = false;   ///< the change of the document belongs to the last step of undo
  bool is_no_step = false;     ///< it is not undone
  bool is_no_visit = false;    ///< Back does not return to what the panes showed before
  bool is_move = false;        ///< by a key or a button that moves on: repeated ones are one step of Back
  bool is_same_move = false;   ///< by a key that is held: belongs to the last step of Back
};

template <class T>
requires std::constructible_from<Effect, const T&>
void reduce(const UiState&, const T& a, ReduceContext& w) {
  w.effects.emplace_back(a);
}

/// A user action or the result of a background task: a value with a `reduce`, or a function of the state.
/// Only `apply_to` changes a UiState.
class Action {
 public:
  template <class T>
  requires std::invocable<const T&, UiState&, ReduceContext&> ||
      requires(UiState& s, const T& a, ReduceContext& w) {
    reduce(s, a, w);
  }
  Action(T value)  // NOLINT(google-explicit-constructor): as std::variant
      : value_(std::move(value)), apply_([](const std::any& held, UiState& s, ReduceContext& w) {
          const T& a = *std::any_cast<T>(&held);
          if constexpr (std::invocable<const T&, UiState&, ReduceContext&>)
            a(s, w);
          else
            reduce(s, a, w);
        }) {}

  /// Null if the value has another type.
  template <class T>
  const T* get_if() const {
    return std::any_cast<T>(&value_);
  }
  void apply(UiState& s, ReduceContext& w) const { apply_(value_, s, w); }

 private:
  std::any value_;
  void (*apply_)(const std::any& held, UiState& s, ReduceContext& w);
};

/// Sets one member of the state, on which nothing else depends.
template <class Slice, class T>
Action change(T Slice::*member, std::type_identity_t<T> value) {
  return [member, value = std::move(value)](UiState& s, ReduceContext&) { s.*member = value; };
}

/// The one function behind every action. If it throws, the state keeps what the action did up to that point.
std::vector<Effect> apply_to(UiState& state, const Action& action, const Snapshot& snapshot);

/// The text of a field.
TextField& field_of(UiState& state, Field field);
const TextField& field_of(const UiState& state, Field field);
/// What tests and assistive tools call it: "size of the picture".
std::string_view name_of(Field field);
/// The field that has the caret when a dialog opens; without a dialog the prompt.
Field first_field(Dialog dialog);

/// The prompt to run, with its edits.
Prompt prompt_of(const UiState& state);
/// What the worker should compute for a state, with `questions` in this order.
WorkerRequest wanted(const UiState& state, std::vector<Question> questions);

}  // namespace headscope::app
