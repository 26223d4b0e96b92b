#pragma once
#include "viz/scene/scene.h"
#include "viz/text/text.h"

namespace headscope::viz {

/// The least rectangle about all that a scene paints, texts by their ink, as far as clips let it show; an
/// empty one at the origin for an empty scene.
Rect content_bounds(const Scene& scene, const Fonts& fonts);

}  // namespace headscope::viz
