#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/desktop/example_prompts.h"
#include "app/desktop/folder_listing.h"
#include "app/hub/hub_name.h"
#include "app/hub/transfer_rate.h"
#include "app/recipe/recipe.h"
#include "app/recipe/settings.h"
#include "app/run/edits/edit_list.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/worker.h"
#include "app/text/edit.h"
#include "app/tour/tour.h"
#include "app/views/export.h"
#include "app/views/view.h"
#include "app/window/one_of.h"

namespace headscope::app {

/// A text that is typed.
enum class Field { prompt, option, export_path, export_size, open_path, edits, second, session_path };
constexpr std::size_t kFields = 8;

/// What lies over the window until it is closed. (Menus come and go by themselves: Dear ImGui keeps them.)
enum class Dialog { none, open, export_, help, save };

/// An edited text and how far it is scrolled.
struct TextField {
  TextState edit;
  float scroll = 0;  ///< logical pixels
};

struct ExportForm {
  std::string subject;  ///< the id of a view; empty: the whole window
  FileFormat kind = FileFormat::png;
  int scale = 2;                 ///< PNG: device pixels for a logical one
  bool svg_text = false;         ///< SVG: text as text
  bool caption = true;           ///< the line under a view's picture
  bool recipe = true;            ///< the file carries what it was made of
  bool dark = false;             ///< the picture's theme; the window's when the dialog opens
  std::filesystem::path folder;  ///< where the suggested path lies
  TextField path;
  TextField size;        ///< "1200x800", logical pixels; empty: as it is shown, or as large as can be read
  bool asked = false;    ///< the file is there already: whether to write over it
  bool waiting = false;  ///< it is written when all is computed
  std::string problem;   ///< why it could not be written, until something is changed: one sentence
};

struct OpenForm {
  std::string asked;  ///< what was typed when a folder was asked for: what is typed since stays
  FolderListing listing;
  bool loading = false;  ///< another folder is being read
  bool second = false;   ///< it is for a model to compare with
  TextField path;        ///< the folder, editable
};

struct SaveForm {
  TextField path;
  bool asked = false;   ///< the file is there already: whether to write over it
  std::string problem;  ///< why it could not be written, until something is changed: one sentence
};

/// Token after token, sampled from what the model says.
struct Generation {
  bool running = false;
  int made = 0;
  static constexpr int kMost = 200;
  std::optional<Prompt> began = {};  ///< where the last one did
  int seed = 0;                      ///< and with which
};

struct PaneSizes {
  float heads = 0;  ///< width in logical pixels; 0: chosen by the window's size
  float next = 0;
  float beside = 0;  ///< of the second view; 0: half
  bool operator==(const PaneSizes&) const = default;
};

/// What the window has to say. Information leaves by itself, an error when its cause is gone.
struct Message {
  std::string text;  ///< empty: nothing
  bool is_error = false;
  bool from_worker = false;  ///< of a load or a run: gone when one goes well
};

/// Where somebody was.
struct Visit {
  ViewState looked;
  std::optional<Prompt>
      prompt;  ///< as it was left, where another took its place; nothing: it was edited at most
};

/// What was looked at before and, once gone back from, after this. Editing the text is no step: it is undone.
struct Visits {
  static constexpr std::size_t kMost = 200;
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;  ///< of prompts in `before`
  std::vector<Visit> before, after;                                ///< the nearest last
  int by = 0;  ///< the kind of step that left the last one, of those that are one together; 0: another
};

/// The panel of tours, and how far somebody has come in one.
struct TourPlace {
  bool open = false;
  int tour = -1;  ///< index; -1: the list of them
  int stop = 0;
  ViewState entered;                                              ///< what the stop showed first
  std::string prompt;                                             ///< the text that the stop is about
  Options options;                                                ///< as the stop set them
  std::vector<std::pair<const OptionSpec*, OptionValue>> before;  ///< options that the tour set, as they were
  EditList edits;                                                 ///< changes as the stop made them
  std::optional<EditList> edits_before;  ///< what was changed before the tour did; nothing: it did not
  struct Compared {
    bool prompt = false;
    std::filesystem::path model;
    bool operator==(const Compared&) const = default;
  };
  std::optional<Compared>
      compared_before;  ///< what a stop took away; nothing: nothing, or it is another's now
  bool operator==(const TourPlace&) const = default;
};

/// What is changed of the computation.
struct EditsState {
  EditList list;
  std::vector<EditList> before, after;  ///< for undoing, the nearest last
  bool pulling = false;                 ///< the last step is of a slider that is still held
  bool painting = false;                ///< the last step is of a mouse that still paints
  bool open = false;                    ///< the strip is there though nothing is changed
  TextField typed;                      ///< the next one, in words of parse_edits
  std::string problem;                  ///< why that cannot be: one sentence
};

/// What the prompt is compared with: a prompt beside the first one, another model, or both.
struct SecondPrompt {
  bool on = false;  ///< another prompt
  TextField text;
  Alignment alignment = Alignment::position;
  bool is_file = false;  ///< of attention patterns, because the first one is: the text is its path
  std::filesystem::path model = {};  ///< that it runs in; empty: the same one
  std::uint64_t request = 0;         ///< a new one loads it again
  bool compares() const { return on || !model.empty(); }
};

/// A model on its way from the hub.
struct Fetching {
  std::optional<HubModel> model;  ///< nothing: none is
  FetchProgress progress;
  bool cancelled = false;  ///< it ends as soon as it can
};

/// Everything that the user can change, as one value. Widgets hold nothing.
struct UiState {
  TextField prompt;
  std::vector<int> ids;  ///< what runs instead of the prompt's text, until that is edited
  std::shared_ptr<const Tries> tries = std::make_shared<const Tries>();
  std::shared_ptr<const PromptList> prompts = {};  ///< for views that can be about many; null: none
  bool start_token = false;
  EditsState edits;
  SecondPrompt second;
  Side side = Side::run;  ///< of the comparison, if there is one
  Selection selection;
  std::string view = std::string(view_at(Place::tab).id);
  std::string beside;  ///< the view beside that one; empty: none
  Options options;
  Visits visits;
  std::vector<Tour> tours;
  TourPlace tour;
  Selection selection_before;  ///< the last click, which a double click takes back
  Options options_before;
  TextField option_text;                   ///< of the list that `list_option` says, as typed
  const OptionSpec* typed_list = nullptr;  ///< of several lists that are shown the one that is typed
  bool dark = false;
  float font_size = kDefaultFontSize;
  PaneSizes panes;
  Dialog dialog = Dialog::none;
  ExportForm export_form;
  OpenForm open_form;
  SaveForm save_form;
  std::filesystem::path session;  ///< the file that it was saved to or opened from; empty: none
  std::vector<std::filesystem::path> recent_sessions;  ///< newest first
  std::filesystem::path left_off;          ///< the session as the window was closed last; empty: none
  std::optional<Session> pending_session;  ///< what of a session that was opened waits for its model
  std::string weights_wanted;  ///< the hash of the weights that an opened session was made with; empty: any
  Generation generation;
  std::filesystem::path model;
  std::uint64_t load_request = 0;
  std::uint64_t load_cancel = 0;
  Message message;
  std::string hint;       ///< of the example that was chosen
  std::string hint_text;  ///< the example's text: the hint holds while the prompt is this
  bool quit = false;      ///< the window is to be closed
  bool can_copy_pictures = false;
  bool can_fetch = false;  ///< models from the hub
  Fetching fetching;
  bool offer_models = false;  ///< larger ones, while the bundled one is open
  std::vector<DiscoveredModel> models;
  std::vector<std::filesystem::path> recent_models;  ///< newest first
  std::vector<std::filesystem::path> recent_folders;
  std::vector<ExamplePrompt> examples;
  std::filesystem::path examples_model;  ///< whose heads the examples' hints speak of; empty: any
};

// Every action of the user. `apply` is the only thing that changes a UiState.
struct TypeInField {
  Field field = Field::prompt;
  TextCommand command;
};
struct ScrollField {
  Field field = Field::prompt;
  float to = 0;
};
struct SetPrompt {  ///< as an undoable edit of the whole text
  std::string text;
  std::optional<ExamplePrompt::Head> head;
  std::string hint;
};
struct ShowIds {  ///< runs the ids; `text` is what they stand for
  std::vector<int> ids;
  std::string text;
};
struct ShowView {
  std::string id;
  bool beside = false;  ///< in the second pane, which opens for it
};
struct StepView {  ///< of the first pane
  int by = 1;
};
struct CloseBeside {};
struct TypeList {  ///< lets the text field have this option of several
  const OptionSpec* option = nullptr;
};
struct Revisit {  ///< what was looked at before, or again what came after it
  bool forward = false;
};
struct OpenTour {  ///< at its first stop; -1: the list of tours
  int tour = -1;
};
struct GoToStop {  ///< of the tour that is open
  int stop = 0;
};
struct CloseTour {};
struct DoAll {  ///< what a view asks for, in order
  ViewActions actions;
  bool held = false;  ///< by a key that is held: it goes on with what it did before
};
struct TakeBackClick {};  ///< selection and options as before the last single click
struct SetDark {
  bool dark = false;
};
struct SetFontSize {
  float size = kDefaultFontSize;
};
struct SetStartToken {
  bool on = false;
};
struct AddEdits {  ///< behind those that there are, as they were written
  model::Edits edits;
};
struct ListEdits {  ///< the whole list, as it becomes
  EditList list;
  bool pulling = false;  ///< by a slider that is still held: one step with what it did before
};
struct SwitchEdits {  ///< all of them
  bool off = false;
};
struct UndoEdits {
  bool forward = false;
};
struct TypeEdits {};  ///< adds what was typed
struct ShowEdits {    ///< their strip, also while there is none
  bool open = false;
};
struct SetSide {
  Side side = Side::run;
};
struct CompareWith {  ///< a second prompt
  bool on = false;
  Alignment alignment = Alignment::position;
};
struct CompareModel {  ///< a second model; empty: none
  std::filesystem::path folder;
};
struct Generate {
  bool on = false;
};
struct ShowDialog {
  Dialog dialog = Dialog::none;
  std::string subject = {};  ///< of an export: the id of its view; empty: as before
  bool second = false;       ///< of what opens a model: one to compare with
};
struct SetExport {  ///< all of the form but its texts
  ExportForm form;
};
struct DoExport {
  bool replace = false;  ///< write over a file that is there
  bool copy = false;     ///< into the clipboard, not into a file
};
struct ExportEnded {
  enum class How { saved, copied, failed, exists, waits } how = How::saved;
  std::string message = {};           ///< what was done, or why not
  std::filesystem::path folder = {};  ///< where it was saved
};
struct SaveSession {
  std::filesystem::path file;
  bool replace = false;  ///< write over a file that is there
};
struct SessionSaved {
  std::filesystem::path file = {};  ///< empty: it was not saved
  bool exists = false;              ///< because there is a file of that name
  std::string problem = {};         ///< or why else
};
struct OpenFile {  ///< a session, a figure's recipe, or a list of prompts
  std::filesystem::path file;
};
struct OpenSession {  ///< what was read
  Recipe recipe = {};
  std::filesystem::path file = {};
  std::optional<std::filesystem::path> model =
      {};  ///< where its model is, or file of attention; nothing: not found
  std::optional<std::filesystem::path> second =
      {};                     ///< where the second model is, or the other file of attention; likewise
  bool other_second = false;  ///< that is not the one that it was
  std::string problem = {};   ///< why it could not be read
};
struct PromptsRead {  ///< a list of prompts, from a file
  std::shared_ptr<const PromptList> prompts = {};
  std::string problem = {};  ///< why it could not be read
};
struct WeightsKnown {  ///< the hash of the model's
  std::string hash;
};
struct ModelOpened {  ///< it is there now
  std::filesystem::path folder;
  bool bundled = false;
};
struct SecondOpened {  ///< the model that is compared with is there now
  std::filesystem::path folder;
};
struct ModelKept {};  ///< the one that was asked for is not to be had, or not wanted any more
struct Paste {        ///< the clipboard into a field
  Field field = Field::prompt;
};
struct CopyNumbers {
  std::string view;  ///< its id; empty: the one in the first pane
};
struct OpenModel {
  std::filesystem::path folder;
};
struct CancelLoad {};
struct FindModels {};
struct FetchModel {  ///< from the hub, and open it then
  HubModel model;
};
struct CancelFetch {};
struct FetchGoesOn {
  FetchProgress progress;
};
struct FetchEnded {
  std::filesystem::path folder = {};  ///< empty: it is not there
  std::string problem = {};           ///< why; empty: it was cancelled
};
struct DismissOffer {};  ///< of larger models, for good
struct BrowseFolder {
  std::filesystem::path folder;
};
struct FolderListed {
  FolderListing listing;
};
struct ModelsFound {
  std::vector<DiscoveredModel> models;
};
struct ShowMessage {
  std::string text;
  bool is_error = false;
  bool from_worker = false;
};
struct DismissMessage {};
struct Quit {};
struct BeginClick {};  ///< a press that may become a double click, which then takes it back
struct SetPanes {
  PaneSizes panes;
  bool done = true;  ///< let go: worth keeping
};

class Action
    : public OneOf<TypeInField, ScrollField, SetPrompt, ShowIds, AppendToken, SetTokens, SelectHead, MoveHead,
                   SelectQuery, MoveQuery, SelectKey, ShowPrompt, PaintEdit, ShowView, StepView, CloseBeside,
                   Revisit, SetOption, TypeList, OpenTour, GoToStop, CloseTour, DoAll, BeginClick,
                   TakeBackClick, SetPanes, SetDark, SetFontSize, SetStartToken, AddEdits, ToggleEdit,
                   SetPositionId, PaintMask, ListEdits, SwitchEdits, UndoEdits, TypeEdits, ShowEdits, SetSide,
                   CompareWith, CompareModel, Generate, ShowDialog, SetExport, DoExport, ExportEnded,
                   ModelOpened, SecondOpened, ModelKept, CopyText, Paste, CopyNumbers, OpenModel, SaveSession,
                   SessionSaved, OpenFile, OpenSession, PromptsRead, WeightsKnown, CancelLoad, FindModels,
                   FetchModel, CancelFetch, FetchGoesOn, FetchEnded, DismissOffer, BrowseFolder, FolderListed,
                   ModelsFound, ShowMessage, DismissMessage, Quit> {
 public:
  using OneOf::OneOf;
};

// What an action asks of the world outside; the program's core carries it out.
struct ExportEffect {
  ExportForm form;
  bool replace = false;
  bool copy = false;
};
struct CopyNumbersEffect {
  std::string view;
};
struct SaveEffect {};  ///< settings changed that are worth keeping
struct CopyTextEffect {
  std::string text;
};
struct PasteEffect {
  Field field = Field::prompt;
};
struct ListFolderEffect {
  std::filesystem::path folder;
};
struct FindModelsEffect {};
struct FetchEffect {
  HubModel model;
};
struct CancelFetchEffect {};
struct SaveSessionEffect {
  std::filesystem::path file;
  bool replace = false;
};
struct ReadSessionEffect {
  std::filesystem::path file;
};
struct ReadPromptsEffect {
  std::filesystem::path file;
};
using Effect = std::variant<ExportEffect, CopyNumbersEffect, SaveEffect, CopyTextEffect, PasteEffect,
                            ListFolderEffect, FindModelsEffect, FetchEffect, CancelFetchEffect,
                            SaveSessionEffect, ReadSessionEffect, ReadPromptsEffect>;

struct Update {
  UiState state;
  std::vector<Effect> effects;
};

/// The one pure function behind every action. `snapshot` tells how many layers, heads and positions there
/// are. Move the state in.
Update apply(UiState state, const Action& action, const Snapshot& snapshot);

/// Of the shown views' options that are lists the one that is typed, else the first; null: there is none.
const OptionSpec* list_option(const UiState& state);
/// Puts its value into the field for it, as text.
void show_option_text(UiState& state);

ViewState looked_at(const UiState& state);

/// The model on the hub that is named where a folder's path could stand; nothing while none can be fetched.
std::optional<HubModel> typed_model(const UiState& state);

/// Null where no tour is walked.
const TourStop* tour_stop(const UiState& state);
/// Whether what a stop waits for was done since it was entered; true where it waits for nothing.
bool stop_is_done(const UiState& state);
/// Whether the window shows something else than the stop did, or another text than it is about.
bool left_the_stop(const UiState& state);

/// The options without what an open tour set: these last.
Options own_options(const UiState& state);

/// A view's options; of a tab those that the panes beside it do not show anyway.
std::vector<const OptionSpec*> options_shown_with(const View& view);

/// The id of the tab that is so many behind this one, round about.
std::string next_tab(std::string_view id, int by);
/// The id of this tab where it can be drawn of attention without weights; else of the first that can.
std::string tab_of_attention(const std::string& id);

/// The views of the panes in the middle, one or two.
std::vector<const View*> shown_tabs(const UiState& state);

/// The text of a field.
TextField& field_of(UiState& state, Field field);
const TextField& field_of(const UiState& state, Field field);

/// Whether the window speaks of larger models.
bool offers_models(const UiState& state, const Snapshot& snapshot);
/// Whether the window shows the strip of changes.
bool shows_changes(const UiState& state);
/// Whether there is another run to compare with.
bool compares(const UiState& state);

/// What was typed.
Prompt typed_prompt(const UiState& state);
/// What runs for a state: that, with what is changed.
Prompt prompt_of(const UiState& state);
/// What the worker should compute for it, `questions` in that order.
Wanted wanted(const UiState& state, std::vector<Question> questions);

}  // namespace headscope::app
