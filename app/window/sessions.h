#pragma once
#include <optional>
#include <string>

#include "app/recipe/recipe.h"
#include "app/window/state.h"

namespace headscope::app {

/// What is on the screen, without the hash of the model's weights.
Session session_of(const UiState& state, const Snapshot& snapshot);

/// The part of it that the next start wants: the look, panes, views, selection, the options that are kept,
/// and the prompt's text.
Session kept_part(const UiState& state);
/// Shows that, but for the prompt and the selection in it.
void show_kept_part(UiState& state, const Session& session);

/// Puts the hashes of the models' weights in, as far as they are known; false: one is still to come.
bool add_weights(Session& session, const Snapshot& snapshot, Answers& answers);

/// What a picture is made of: of a view, or of the whole window where it is null. `width` and `height`: of
/// its page.
Recipe recipe_of(const ExportForm& form, const View* view, const UiState& state, const Snapshot& snapshot,
                 const Figure& page);

/// Makes a list of prompts what the views of many are about; null: they are about the prompt again.
void set_prompts(UiState& state, std::shared_ptr<const PromptList> prompts);
/// Shows one of those views, where none is shown.
void show_view_of_many(UiState& state);

/// Shows what a session does, but for what only its model knows: that is `pending_session`. Of a figure the
/// window keeps its own look, panes and the view beside; of attention without a model it keeps its prompt and
/// edits.
void show_session(UiState& state, const OpenSession& opened);

inline constexpr const char* kOtherWeights =
    "The model or file of that name has other weights here than those that it was made with: the numbers "
    "differ.";

/// Where what sessions are of may be found.
struct Shelves {
  std::vector<DiscoveredModel> models;
  std::vector<std::filesystem::path> attention;  ///< see attention_named
  bool has_model = true;  ///< one with weights is open: it stands in for one that is not found
};
/// Reads a session, or a figure's recipe, and finds what it is of. Never throws: the problem says why not.
OpenSession opened_session(const std::filesystem::path& file, const Shelves& shelves);

/// What could not be had of a session that was opened: one sentence; empty: nothing.
std::string warning_of(const OpenSession& opened);

/// Shows the rest, once the model is there: ids, edits, what was tried. Returns a sentence where some of it
/// cannot be had of this model; else nothing.
std::string finish_session(UiState& state, const Snapshot& snapshot);

/// "tales.headscope" in the folder of the last session, or of the last export.
std::string suggested_session(const UiState& state, const Snapshot& snapshot);

/// "tales-L1H2-heatmap.png" in the folder of the last export, or where the program was started.
std::string suggested_figure(const UiState& state, const Snapshot& snapshot);

/// Whether a file may hold a session or a figure's recipe, by its name.
bool may_hold_recipe(const std::filesystem::path& file);
/// Whether OpenFile is for it, by its name: that, or a list of prompts.
bool is_for_open_file(const std::filesystem::path& file);
/// Whether that model is the one that is shown; the file of its weights stands for its folder.
bool is_open(const std::filesystem::path& model, const Snapshot& snapshot);

/// Whether a file is one of tensors, by its extension: of patterns, or of a model.
bool may_hold_patterns(const std::filesystem::path& file);

}  // namespace headscope::app
