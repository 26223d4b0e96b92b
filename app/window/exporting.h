#pragma once
#include <optional>
#include <span>
#include <string>

#include "app/views/export.h"
#include "app/window/ui.h"

namespace headscope::app {

/// How a view's file is made: its context, and the recipe's figure.
struct FigurePlan {
  ViewContext context;
  Figure figure;
};

/// The plan of the view that a form describes; `pictures` are those in the last drawn window. Throws
/// std::runtime_error (one sentence) for a size that is invalid and while there is nothing to show.
FigurePlan figure_plan(const View& view, const ExportForm& form, FileFormat format, const FrameInput& shown,
                       std::span<const PlacedPicture> pictures);

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
