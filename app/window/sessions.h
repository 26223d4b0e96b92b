#pragma once
#include <optional>
#include <string>

#include "app/recipe/recipe.h"
#include "app/window/state.h"

namespace headscope::app {

/// What is on the screen, without the hash of the model's weights.
Session session_of(const UiState& state, const Snapshot& snapshot);

/// What a picture is made of: of a view, or of the whole window where it is null. `width` and `height`: of its
/// page.
Recipe recipe_of(const ExportForm& form, const View* view, const UiState& state, const Snapshot& snapshot,
                 const Figure& page);

/// Shows what a session does, but for what only its model knows: that is `to_come`. Of a figure the window keeps
/// its own look, panes and what stands beside the view.
void show_session(UiState& state, const Recipe& recipe);

inline constexpr const char* kOtherWeights =
    "The model of that name has other weights here than those that it was made with: the numbers differ.";

/// What could not be had of a session that was opened: one sentence; empty: nothing.
std::string warning_of(const OpenSession& opened);

/// Shows the rest, once the model is there: ids, changes, what was tried. Returns a sentence where some of it
/// cannot be had of this model; else nothing.
std::string finish_session(UiState& state, const Snapshot& snapshot);

/// "tales.headscope" in the folder of the last session, or of the last export.
std::string suggested_session(const UiState& state, const Snapshot& snapshot);

/// Whether a file may hold a session or a figure's recipe, by its name.
bool may_hold_recipe(const std::filesystem::path& file);
/// Whether that model is the one that is shown; the file of its weights stands for its folder.
bool is_open(const std::filesystem::path& model, const Snapshot& snapshot);

/// Whether a file is one of tensors, by its extension: of patterns, or of a model.
bool may_hold_patterns(const std::filesystem::path& file);

}  // namespace headscope::app
