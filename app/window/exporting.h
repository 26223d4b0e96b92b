#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/run/answers.h"
#include "app/views/export.h"
#include "app/window/gui.h"
#include "app/window/window_picture.h"

namespace headscope::app {

/// What an export is made from.
struct ExportSource {
  const UiState& state;
  const Snapshot& snapshot;
  const std::shared_ptr<const viz::Fonts>& fonts;
  const WindowFrame& frame;
  std::span<const PlacedPicture> pictures;             ///< pictures in the last drawn window
  model::Precision precision = model::Precision::f32;  ///< precision of the model's matrices
};

/// How a view's file is made: its context, and the recipe's figure.
struct FigurePlan {
  ViewContext context;
  Figure figure;
};

/// The plan of the view that a form describes. Throws std::runtime_error (one sentence) for a size that is
/// invalid and while there is nothing to show.
FigurePlan figure_plan(const View& view, const ExportForm& form, FileFormat format,
                       const ExportSource& source, Answers& answers);

/// The bytes of the file that a form describes. `ready` is called once every question has been asked; returns
/// nothing if it says that the answers are not complete. Throws std::runtime_error (one sentence), for
/// example for a size that is invalid, too small or too large.
std::optional<std::string> exported_bytes(const ExportForm& form, FileFormat format,
                                          const ExportSource& source,
                                          const std::shared_ptr<SnapshotAnswers>& answers,
                                          const std::function<bool()>& ready);

/// The whole window in pixels, without a display or OpenGL. `ready` as above.
std::optional<viz::Bitmap> window_bitmap(const ExportSource& source,
                                         const std::shared_ptr<SnapshotAnswers>& answers,
                                         const std::function<bool()>& ready);

}  // namespace headscope::app
