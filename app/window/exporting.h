#pragma once
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "app/views/export.h"
#include "app/window/ui.h"

namespace headscope::app {

/// How the file that a form describes is made of a view: its context, and the recipe's figure. `pictures` are
/// those in the last drawn window. Throws std::runtime_error (one sentence) for a size that is invalid and
/// while there is nothing to show.
std::pair<ViewContext, Figure> figure_plan(const View& view, const ExportForm& form, FileFormat format,
                                           const FrameInput& shown, std::span<const PlacedPicture> pictures);

/// The bytes of the file that a form describes; nothing while some answer is not complete. Throws
/// std::runtime_error (one sentence), for example for a size that is invalid, too small or too large, or if
/// an answer failed.
std::optional<std::string> exported_bytes(const ExportForm& form, FileFormat format, const FrameInput& shown,
                                          std::span<const PlacedPicture> pictures);

/// Whether every question that was asked has a complete answer. Throws std::runtime_error with the reason if
/// an answer failed.
bool are_complete(SnapshotAnswers& answers);

/// The whole window in pixels, without a display or OpenGL. `complete`: nothing while some answer is not, as
/// above; else with whatever has been computed so far.
std::optional<viz::Bitmap> window_bitmap(const FrameInput& shown, bool complete);

}  // namespace headscope::app
