#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/event.h"
#include "app/run/model_discovery.h"
#include "app/run/worker.h"
#include "app/text/edit.h"
#include "app/text/prompt_editor.h"
#include "app/views/export.h"
#include "app/views/view.h"
#include "app/window/example_prompts.h"

namespace headscope::app {

/// Where typed text goes.
enum class Field { none, prompt, export_path, open_path, option };

enum class Dialog { none, examples, models, open, export_, help };

/// What an export shows.
enum class Subject { view, heads, window };

/// An edited text and how far it is scrolled.
struct TextField {
  EditState edit;
  float scroll = 0;  ///< logical pixels
};

struct ExportForm {
  Subject subject = Subject::view;
  FileFormat kind = FileFormat::png;
  int scale = 2;                 ///< PNG: device pixels for a logical one
  bool svg_text = false;         ///< SVG: text as text
  std::filesystem::path folder;  ///< where the suggested path lies
  TextField path;
};

/// One line of the directory browser.
struct FolderEntry {
  std::string name;
  bool is_model = false;  ///< it has a GPT-2's config.json
  bool operator==(const FolderEntry&) const = default;
};

struct OpenForm {
  static constexpr int kRows = 12;  ///< entries shown at once
  std::filesystem::path folder;
  std::vector<FolderEntry> entries;
  int first = 0;   ///< first entry that is shown
  TextField path;  ///< the folder, editable
};

/// Token after token, sampled from what the model says.
struct Generation {
  bool running = false;
  int made = 0;
  static constexpr int kMost = 200;
  std::uint64_t seed = 1;
};

/// Something held with the mouse.
enum class DragKind { text, heads_splitter, next_splitter, slider, picture };
struct Drag {
  DragKind kind = DragKind::text;
  viz::Point start;
  viz::Point last;                     ///< picture: where the mouse was at the last move
  bool moved = false;                  ///< picture: far enough to be no click
  int clicks = 1;                      ///< picture: 2 is a double click
  int button = 0;                      ///< picture: as in MouseDown
  const View* view = nullptr;          ///< picture: whose it is
  viz::Rect track;                     ///< slider: where it stands
  const OptionSpec* option = nullptr;  ///< slider: what it sets
  float size = 0;                      ///< splitters: the pane's width when it started
  Field field = Field::none;           ///< text: where it selects
  TextDrag text;                       ///< text: what was pressed
  bool operator==(const Drag&) const = default;
};

struct PaneSizes {
  float heads = 0;  ///< width in logical pixels; 0: chosen by the window's size
  float next = 0;
  bool operator==(const PaneSizes&) const = default;
};

/// Everything that the user can change, as one value. Widgets hold nothing.
struct UiState {
  TextField prompt;
  std::vector<int> ids;  ///< what runs instead of the prompt's text, until that is edited
  bool start_token = false;
  Field focus = Field::prompt;
  Selection selection;
  std::string view = std::string(view_at(Place::tab).id);
  Options options;
  Selection selection_before;  ///< the last click, which a double click takes back
  Options options_before;
  TextField option_text;  ///< of the shown view's option that is a list of numbers, as typed
  bool dark = false;
  float font_size = 14;
  PaneSizes panes;
  Dialog dialog = Dialog::none;
  int menu_row = -1;  ///< highlighted by the keyboard
  ExportForm export_form;
  OpenForm open_form;
  Generation generation;
  std::filesystem::path model;
  std::uint64_t load_request = 0;
  std::uint64_t load_cancel = 0;
  std::string message;
  bool message_is_error = false;
  std::uint64_t errors_seen = 0;
  std::string hint;  ///< of the example that was chosen, until the prompt is edited
  std::optional<Drag> drag;
  bool quit = false;  ///< the window is to be closed
  std::vector<DiscoveredModel> models;
  std::vector<ExamplePrompt> examples;
  std::filesystem::path examples_model;  ///< whose heads the examples' hints speak of; empty: any
};

// Every action of the user. `apply` is the only thing that changes a UiState.
struct EditField {
  Field field = Field::prompt;
  EditCommand command;
};
struct ScrollField {
  Field field = Field::prompt;
  float to = 0;
};
struct FocusField {
  Field field = Field::none;
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
};
struct StepView {
  int by = 1;
};
struct DoAll {  ///< what a view asks for, in order
  ViewActions actions;
};
struct EditOption {
};  ///< the focus into the field of the shown view's list of numbers, or of the first that has one
struct TakeBackClick {};  ///< selection and options as before the last single click
struct SetDark {
  bool dark = false;
};
struct SetFontSize {
  float size = 14;
};
struct SetStartToken {
  bool on = false;
};
struct Generate {
  bool on = false;
};
struct ShowDialog {
  Dialog dialog = Dialog::none;
};
struct MoveMenu {
  int by = 0;
};
struct SetExport {
  Subject subject = Subject::view;
  FileFormat kind = FileFormat::png;
  int scale = 2;
  bool svg_text = false;
};
struct DoExport {};
struct Paste {  ///< the clipboard into a field
  Field field = Field::prompt;
};
struct CopyNumbers {};
struct OpenModel {
  std::filesystem::path folder;
};
struct CancelLoad {};
struct BrowseFolder {
  std::filesystem::path folder;
};
struct FolderListed {
  std::filesystem::path folder;
  std::vector<FolderEntry> entries;
};
struct ScrollFolder {
  int by = 0;
};
struct ModelsFound {
  std::vector<DiscoveredModel> models;
};
struct ShowMessage {
  std::string text;
  bool is_error = false;
};
struct DismissMessage {};
struct Quit {};
struct StartDrag {
  Drag drag;
};
struct MoveDrag {
  viz::Point to;
};
struct EndDrag {};

using Action =
    std::variant<EditField, ScrollField, FocusField, SetPrompt, ShowIds, AppendToken, SelectHead, MoveHead,
                 SelectQuery, MoveQuery, ShowView, StepView, SetOption, DoAll, EditOption, TakeBackClick,
                 SetDark, SetFontSize, SetStartToken, Generate, ShowDialog, MoveMenu, SetExport, DoExport,
                 CopyText, Paste, CopyNumbers, OpenModel, CancelLoad, BrowseFolder, FolderListed,
                 ScrollFolder, ModelsFound, ShowMessage, DismissMessage, Quit, StartDrag, MoveDrag, EndDrag>;

// What an action asks of the world outside; the program's core carries it out.
struct ExportEffect {
  ExportForm form;
};
struct CopyNumbersEffect {};
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
using Effect = std::variant<ExportEffect, CopyNumbersEffect, SaveEffect, CopyTextEffect, PasteEffect,
                            ListFolderEffect, FindModelsEffect>;

struct Update {
  UiState state;
  std::vector<Effect> effects;
};

/// The prompt's text is this much larger than the rest.
inline constexpr float kPromptTextFactor = 1.1F;

/// The one pure function behind every action. `snapshot` tells how many layers, heads and positions there
/// are. Move the state in.
Update apply(UiState state, const Action& action, const Snapshot& snapshot);

/// The option of a view that is a list of numbers; null: it has none.
const OptionSpec* list_option(const View& view);
/// Puts its value into the field for it, as text, if the shown view has one.
void show_option_text(UiState& state);

/// The field of a state that takes typed text, or null.
TextField* field_of(UiState& state, Field field);
const TextField* field_of(const UiState& state, Field field);

/// What runs for a state.
Prompt prompt_of(const UiState& state);
/// What the worker should compute for it, `questions` in that order.
Wanted wanted(const UiState& state, std::vector<Question> questions);

}  // namespace headscope::app
