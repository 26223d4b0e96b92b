#pragma once
#include <span>

#include "viz/scene/scale.h"

namespace headscope::app {

/// −m .. m for the components of vectors, m of two digits and above all but one in a hundred of them: a few
/// dimensions of the residual stream are huge. Says which ends have values beyond.
viz::ColorScale vector_scale(std::span<const float> values);

}  // namespace headscope::app
