#pragma once
#include <span>

#include "viz/scene/scale.h"

namespace headscope::app {

/// A scale −m .. m for the components of vectors. m has two digits and exceeds all but 1 % of the values,
/// because a few dimensions of the residual stream are huge. Marks the ends beyond which there are values.
viz::ColorScale vector_scale(std::span<const float> values);

}  // namespace headscope::app
