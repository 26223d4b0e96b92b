#pragma once
#include "viz/scene/scene.h"
#include "viz/text/text.h"

namespace headscope::viz {

/// The smallest rectangle around everything a scene draws, after clipping, and around the ink of texts; empty
/// and at the origin for an empty scene.
Rect content_bounds(const Scene& scene, const Fonts& fonts);

}  // namespace headscope::viz
