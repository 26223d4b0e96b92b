#pragma once
#include <concepts>
#include <optional>
#include <variant>
#include <vector>

#include "app/window/one_of.h"
#include "app/window/state/comparison.h"
#include "app/window/state/dialogs.h"
#include "app/window/state/edits.h"
#include "app/window/state/files.h"
#include "app/window/state/prompt.h"
#include "app/window/state/shell.h"
#include "app/window/state/tours.h"
#include "app/window/state/undo.h"
#include "app/window/state/view.h"

namespace headscope::app {

/// Everything that the user can change, as one value. Widgets hold no state.
struct UiState : PromptSlice,
                 ViewSlice,
                 EditsSlice,
                 ComparisonSlice,
                 TourSlice,
                 DialogSlice,
                 FileSlice,
                 ShellSlice,
                 UndoSlice {};

/// A user action or the result of a background task. Only `apply` changes a UiState.
class Action
    : public OneOf<TypeInField, ScrollField, ShowExample, ShowIds, AppendToken, SetTokens, SelectHead,
                   MoveHead, SelectQuery, MoveQuery, SelectKey, ShowPrompt, DragEdit, ShowView, StepView,
                   Revisit, SetOption, PlayOption, AdvancePlaying, TypeOption, OpenTour, GoToStop, CloseTour,
                   RevealPoint, DoAll, BeginClick, UndoClick, SetFontSize, SetStartToken, AddEdits,
                   ToggleEdit, SetPositionId, SetVisibility, ListEdits, Undo, TypeEdits, ShowEdits, SetSide,
                   CompareWith, CompareModel, Generate, ShowDialog, ShowGuide, ChooseEntry, SetExport,
                   DoExport, ExportEnded, ModelOpened, SecondOpened, ModelKept, CopyText, Paste, CopyNumbers,
                   OpenModel, SaveSession, SessionSaved, OpenFile, OpenSession, PromptsRead, WeightsKnown,
                   FindModels, FetchModel, CancelFetch, FetchProgressed, FetchEnded, BrowseFolder,
                   FolderListed, ShowMessage, Change> {
 public:
  using OneOf::OneOf;
};

/// Effects: what an action requests from the core, which carries it out. Most are the action itself.
struct ExportEffect {
  ExportForm form;  ///< at the time of the action
  DoExport action;
};
using Effect = std::variant<ExportEffect, CopyNumbers, CopyText, Paste, BrowseFolder, FindModels, FetchModel,
                            CancelFetch, SaveSession, OpenFile>;

/// What an action reads besides the state, and the effects it requests.
struct ReduceContext {
  const Snapshot& snapshot;  ///< gives the numbers of layers, heads and positions
  std::vector<Effect> effects = {};
  bool is_other_text = false;  ///< the prompt was replaced, so that edits do not move with its tokens
  bool extends_step = false;   ///< the change of the document belongs to the last step of undo
  bool is_no_step = false;     ///< it is not undone
};

/// Actions that only request an effect.
template <class T>
requires std::same_as<T, CopyText> || std::same_as<T, Paste> || std::same_as<T, FindModels> ||
    std::same_as<T, SaveSession>
void reduce(const UiState&, const T& a, ReduceContext& w) {
  w.effects.emplace_back(a);
}

/// `apply` in place. If it throws, the state keeps what the action did up to that point.
std::vector<Effect> apply_to(UiState& state, const Action& action, const Snapshot& snapshot);

struct Update {
  UiState state;
  std::vector<Effect> effects;
};
/// The one pure function behind every action. Move the state in.
Update apply(UiState state, const Action& action, const Snapshot& snapshot);

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
