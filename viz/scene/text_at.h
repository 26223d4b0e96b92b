#pragma once
#include <string_view>

#include "viz/scene/scene.h"

namespace headscope::viz {

/// The text drawn last at a point of a scene; empty: there is none. Refers to the scene.
std::string_view text_at(const Scene& scene, Point at);

}  // namespace headscope::viz
