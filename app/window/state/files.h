#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/desktop/bundled_guide.h"
#include "app/desktop/folder_listing.h"
#include "app/hub/fetch.h"
#include "app/hub/hub_model.h"
#include "app/recipe/recipe.h"
#include "app/run/sources/model_discovery.h"
#include "app/views/export.h"
#include "app/window/state/document.h"

// The dialogs, and what is opened, saved and exported.
namespace headscope::app {

/// A dialog over the window. (Dear ImGui tracks which menu is open.)
enum class Dialog { none, open, export_, help, save, palette };

/// What becomes of a file. If it exists, the dialog asks whether to replace it. It waits for answers.
enum class Writing { none, exists, waits, writes, saved, copied, failed };

/// The form of a dialog that writes a file.
struct FileForm {
  TextField path;
  Writing state = Writing::none;
  std::string problem;  ///< why it could not be written: one sentence, until something changes
};

struct ExportForm : FileForm {
  std::string subject;  ///< the id of a view; empty: the whole window
  FileFormat kind = FileFormat::png;
  int scale = 2;                   ///< PNG: device pixels for a logical one
  bool svg_text = false;           ///< SVG: text as text
  Target target = Target::screen;  ///< what a view's picture is for, which may set its font and scale
  bool title = true;               ///< the title above a view's picture
  bool caption = true;             ///< the line under a view's picture
  bool recipe = true;              ///< the file carries its recipe
  bool dark = false;               ///< the picture's theme; initially the window's
  TextField size;  ///< "1200x800", or "1200" as a width, logical pixels; empty: as `target` chooses
};

struct OpenForm {
  FolderListing listing;
  bool loading = false;  ///< a folder is being read
  bool second = false;   ///< chooses a model to compare with
  TextField path;        ///< the folder, editable
};

struct HelpForm {
  std::string page;    ///< name of a page of the guide; empty: the keys
  std::string anchor;  ///< heading at which it begins; empty: the top
  int request = 0;     ///< counts requests for a place, so that each of them scrolls there
  TextField search;    ///< if not empty, what was found is shown in place of the page
};

/// The command palette.
struct PaletteForm {
  TextField search;
  int chosen = 0;  ///< index of the entry that Enter performs
};

struct DialogSlice {
  Dialog dialog = Dialog::none;
  std::shared_ptr<const Guide> guide = std::make_shared<const Guide>();
  HelpForm help_form;
  PaletteForm palette;
  ExportForm export_form;
  OpenForm open_form;
  FileForm save_form;
  bool can_copy_pictures = false;
};

struct ShowDialog {
  Dialog dialog = Dialog::none;
  std::string subject = {};  ///< what to export: the id of a view; empty: the view in the middle
  bool second = false;       ///< the Open dialog chooses a model to compare with
};
struct ShowGuide {          ///< opens the help at a page
  std::string page = {};    ///< as in HelpForm
  std::string anchor = {};  ///< likewise
};
struct SetExport {  ///< the form without its texts
  ExportForm form;
};
struct DoExport {
  bool replace = false;                 ///< an existing file
  bool copy = false;                    ///< to the clipboard, not to a file
  std::optional<ExportForm> form = {};  ///< nothing: the dialog's
};
struct SaveSession {
  std::filesystem::path file;
  bool replace = false;  ///< an existing file
};
struct WriteEnded {  ///< what became of a picture, or of a session
  Writing how = Writing::saved;
  std::filesystem::path file = {};  ///< what was saved
  std::string problem = {};         ///< why it failed
  bool session = false;
};
struct BrowseFolder {
  std::filesystem::path folder;
};

void reduce(UiState& s, const ShowDialog& a, ReduceContext& w);
void reduce(DialogSlice& s, const ShowGuide& a, ReduceContext& w);
void reduce(UiState& s, const SetExport& a, ReduceContext& w);
void reduce(UiState& s, const WriteEnded& a, ReduceContext& w);

/// Chooses the format that a typed path names, if what is exported can have it.
void follow_extension(ExportForm& form);

/// Clears the messages that refer to the form before it changed.
void clear_answer(FileForm& form);

/// What Enter and the button of the Open dialog do; nothing: nothing that can be opened is named.
std::optional<Action> opening(const UiState& state);
/// The hub model whose name was typed in place of a path; nothing: none was, or models cannot be fetched.
std::optional<HubModel> named_model(const UiState& state);

/// The fetch of a model from the hub.
struct FetchState {
  std::optional<HubModel> model = {};  ///< nothing: none
  FetchProgress progress = {};
  std::stop_source stop = {};  ///< a request cancels the fetch, which ends soon
};

/// The open model and session, and what else can be opened.
struct FileSlice : Remembered {
  std::filesystem::path model;
  std::uint64_t load_request = 0;
  std::uint64_t load_cancel = 0;
  std::vector<DiscoveredModel> models;
  bool can_fetch = false;  ///< models can be fetched from the hub
  FetchState fetching;
  std::filesystem::path session;           ///< its file; empty: none
  std::vector<KeptSession> kept_sessions;  ///< of earlier windows, the last first
  std::string keep_problem;                ///< why session and settings could not be kept; empty: they were
  /// Hashes of weights for the session that is kept, by folder and stamp; empty while one is computed.
  std::map<std::pair<std::filesystem::path, std::string>, std::string> weights_hashes;
  std::optional<Session> pending_session;  ///< the part of an opened session that waits for its model
};

struct OpenModel {
  std::filesystem::path folder;
};
struct ModelOpened {};  ///< it was loaded
struct ModelKept {};    ///< the requested model could not be loaded, or loading was cancelled
struct FindModels {};
struct FetchModel {  ///< fetches a model from the hub and opens it
  HubModel model;
};
struct FetchEnded {
  std::filesystem::path folder = {};  ///< empty: it was not fetched
  std::string problem = {};           ///< why; empty: it was cancelled
};
struct OpenFile {  ///< a session, a figure's recipe, a list of prompts, attention, or a model or a file of it
  std::filesystem::path file;
};
struct OpenSession {  ///< opens a session that was read
  Recipe recipe = {};
  std::filesystem::path file = {};
  std::optional<std::filesystem::path> model = {};   ///< or file of attention; nothing: not found
  std::optional<std::filesystem::path> second = {};  ///< the same of what it is compared with
};

void reduce(UiState& s, const OpenModel& a, ReduceContext& w);
void reduce(UiState& s, const ModelOpened& a, ReduceContext& w);
void reduce(UiState& s, const ModelKept& a, ReduceContext& w);
void reduce(UiState& s, const FetchEnded& a, ReduceContext& w);
void reduce(UiState& s, const OpenSession& a, ReduceContext& w);

}  // namespace headscope::app
