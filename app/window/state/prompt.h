#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "app/run/edits/edit_list.h"
#include "app/tour/tour.h"
#include "app/window/state/slice.h"
#include "app/window/state/view.h"

namespace headscope::app {

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

/// Translates a view's actions from the baseline, which its picture showed, to the run: positions become the
/// aligned ones, and actions on positions that only the baseline has are dropped, which the message says.
ViewActions translate_to_run(ViewActions actions, const PromptRun& run, Message& message);

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
