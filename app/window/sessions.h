#pragma once
#include <string>

#include "app/recipe/recipe.h"
#include "app/window/state.h"

namespace headscope::app {

/// Everything that the window shows, without hashes of weights.
Session session_of(const UiState& state, const Snapshot& snapshot);

/// The part of the session that the next start restores: look, panes, views, selection, kept options and the
/// prompt's text.
Session kept_part(const UiState& state);
/// Restores that part, except the prompt and the selection.
void show_kept_part(UiState& state, const Session& session);

/// The model of the shown run's baseline if the session names it, or its file, as the second one; else null.
const LoadedModel* named_second(const Session& session, const Snapshot& snapshot);

/// Adds the hashes of the models' weights that are known; returns false while one is still being computed.
bool add_weights(Session& session, const Snapshot& snapshot, Answers& answers);

/// The recipe of a view's picture, or of the whole window if `view` is null.
Recipe recipe_of(const ExportForm& form, const View* view, const UiState& state, const Snapshot& snapshot,
                 const Figure& page);

/// Sets the list of prompts for views that can show one; null: they show the prompt.
void set_prompts(UiState& state, std::shared_ptr<const PromptList> prompts);
/// Compares as a session does; `second`: its second model or attention file, empty if there is none.
void show_comparison(UiState& state, const Session& session, const std::filesystem::path& second);

/// Shows a session, except the parts that need its model: those stay in `pending_session`. A figure leaves
/// the window's look, panes and second view alone; attention without a model leaves the prompt and the edits
/// alone.
void show_session(UiState& state, const OpenSession& opened);

/// Reads a session or a figure's recipe and finds its models and files among `known`, which are folders of
/// models and attention files, then `found`. `has_model`: a model with weights is open and replaces one that
/// is not found. Throws std::exception, one sentence.
OpenSession read_session(const std::filesystem::path& file, const std::vector<DiscoveredModel>& found,
                         const std::vector<std::filesystem::path>& known, bool has_model);

/// One sentence about a model or file of it that has other weights now; empty: none has. Reads whole files.
std::string weights_warning(const OpenSession& opened);

/// Whether a model is the open one; the path of its weights file counts as its folder.
bool is_open(const std::filesystem::path& model, const Snapshot& snapshot);

}  // namespace headscope::app
