#pragma once
#include "viz/scene/scene.h"
#include "viz/text/text.h"

namespace headscope::viz {

/// The smallest rectangle around everything a scene draws, texts by their ink, after clipping; an empty one
/// at the origin for an empty scene.
Rect content_bounds(const Scene& scene, const Fonts& fonts);

}  // namespace headscope::viz
