#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/recipe/recipe.h"
#include "app/tour/tour.h"
#include "app/views/option.h"
#include "app/window/state/document.h"

namespace headscope::app {

/// What the panes show.
struct ViewSlice : ViewState {
  ViewSlice() { view = view_at(Place::tab).id; }

  Options options;
  History<ViewState> visits;   ///< of Back and Forward
  Selection selection_before;  ///< before the last click, which a double click undoes
  Options options_before;
  const OptionSpec* playing = nullptr;  ///< the option that runs through its values; null: none
  TextField option_text;                ///< the text of `option_in_field`
  std::string option_problem;           ///< what it takes instead of what is typed; empty: it takes that
  const OptionSpec* last_in_field = nullptr;  ///< the option being typed if several are shown that can be
};

/// Runs through an option's whole values from its lowest one on; with null, or if it does so already, stops.
struct PlayOption {
  const OptionSpec* option = nullptr;
};
/// Shows the next value of the option that plays. Stops at the highest one, and if no view shown has it.
struct PlayNext {};
struct ShowView {
  std::string id;
  bool second_pane = false;  ///< in the second pane, which is opened if need be
};
struct StepView {  ///< shows another tab in the first pane
  int by = 1;
};
struct Revisit {  ///< goes back or forward in the history
  bool forward = false;
};
struct DoAll {  ///< a view's actions, in order
  ViewActions actions;
  bool key_held = false;  ///< by a repeating key: extends the last step
  Side side = Side::run;  ///< of the picture that they come from
};
struct BeginClick {};  ///< a press that may become a double click
struct UndoClick {};   ///< restores selection and options from before the last click
struct CopyNumbers {
  std::string view;  ///< its id; empty: the one in the first pane
};

void reduce(UiState& s, const PlayOption& a, ReduceContext& w);
void reduce(UiState& s, const PlayNext& a, ReduceContext& w);
void reduce(ViewSlice& s, const SelectHead& a, ReduceContext& w);
void reduce(ViewSlice& s, const MoveHead& a, ReduceContext& w);
void reduce(ViewSlice& s, const SelectQuery& a, ReduceContext& w);
void reduce(ViewSlice& s, const MoveQuery& a, ReduceContext& w);
void reduce(ViewSlice& s, const SelectKey& a, ReduceContext& w);
void reduce(ViewSlice& s, const SetOption& a, ReduceContext& w);
void reduce(ViewSlice& s, const ShowView& a, ReduceContext& w);
void reduce(ViewSlice& s, const ShowPart& a, ReduceContext& w);
void reduce(ViewSlice& s, const StepView& a, ReduceContext& w);
void reduce(ViewSlice& s, const Revisit& a, ReduceContext& w);
void reduce(UiState& s, const DoAll& a, ReduceContext& w);
void reduce(UiState& s, const BeginClick& a, ReduceContext& w);
void reduce(ViewSlice& s, const UndoClick& a, ReduceContext& w);

/// How many layers, heads and positions there are; one of each until something has run.
struct Extent {
  int layers = 1, heads = 1, length = 1, keys = 1;
};
Extent extent(const Snapshot& snapshot);

/// Scrolls pictures back to their start, because a scroll position belongs to one query of one prompt.
void scroll_to_start(ViewSlice& state);

/// Whether an option is typed: a list or a token.
inline bool takes_text(const OptionSpec& option) {
  return std::holds_alternative<std::vector<int>>(option.default_value) ||
         std::holds_alternative<TokenRef>(option.default_value);
}
/// The one of these among the shown views' options that the text field edits; null: none.
const OptionSpec* option_in_field(const ViewSlice& state);
/// Puts the value of `option_in_field` into its field, as text.
void show_option_text(ViewSlice& state);
/// Sets `option_in_field` to the typed text, or `option_problem` to what it takes if it does not take that.
void set_typed_option(ViewSlice& state);

inline const ViewState& view_state(const ViewSlice& state) {
  return state;
}

/// The options that a view shows controls for: a tab leaves out those of the side panes.
std::vector<const OptionSpec*> options_shown_with(const View& view);
/// Whether setting a view's option changes anything now: not if it is about weights or a list of prompts and
/// there are none, or if other options keep it from having an effect.
bool has_effect(const View& view, const OptionSpec& option, const UiState& state, const Snapshot& snapshot);

/// The id of the tab `by` tabs after this one, wrapping.
std::string next_tab(std::string_view id, int by);
/// This tab if attention without weights is enough to draw it, else the first tab for which it is.
std::string tab_of_attention(const std::string& id);

/// The one or two views in the middle.
std::vector<const View*> shown_tabs(const ViewSlice& state);

float within_limits(float font_size);

/// The window's message. Information disappears after a while, an error when its cause is gone.
struct Message {
  std::string text;  ///< empty: nothing
  bool is_error = false;
  bool from_worker = false;  ///< about a load or a run; removed when one succeeds
  bool is_former = false;    ///< of an earlier action than the last one
};

/// The window itself: its look, its message.
struct ShellSlice : WindowLook {
  Message message;
  std::vector<std::string> closed_warnings;  ///< of models: those that are no longer shown
  bool quit = false;                         ///< the window closes
};

struct SetFontSize {
  float size = kDefaultFontSize;
};
struct ShowMessage {  ///< an empty text: none
  std::string text;
  bool is_error = false;
  bool from_worker = false;
};

void reduce(UiState& s, const SetFontSize& a, ReduceContext& w);
void reduce(UiState& s, const ShowMessage& a, ReduceContext& w);

}  // namespace headscope::app
