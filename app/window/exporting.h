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

/// What an export shows.
struct Shown {
  const UiState& state;
  const std::shared_ptr<const Snapshot>& snapshot;
  const std::shared_ptr<const viz::Fonts>& fonts;
  const WindowFrame& frame;
  std::span<const PlacedPicture> pictures;             ///< of the window when it was drawn last
  model::Precision precision = model::Precision::f32;  ///< of the model's matrices
};

/// The bytes of the file that a form describes; nothing unless `ready`, called when everything is asked, says
/// that the answers are whole. Throws std::runtime_error (one sentence), as for a size that is wrong, too
/// small or too large.
std::optional<std::string> exported_bytes(const ExportForm& form, FileFormat format, const Shown& shown,
                                          const std::shared_ptr<SnapshotAnswers>& answers,
                                          const std::function<bool()>& ready);

/// The whole window in pixels, without a display or OpenGL; nothing unless `ready`, as above.
std::optional<viz::Bitmap> window_bitmap(const Shown& shown, const std::shared_ptr<SnapshotAnswers>& answers,
                                         const std::function<bool()>& ready);

}  // namespace headscope::app
