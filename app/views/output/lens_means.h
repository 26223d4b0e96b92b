#pragma once
#include "app/views/parts/list_means.h"

// The logit lens as means over the prompts of a list: a row for each place in the residual stream.
namespace headscope::app {

extern const Option<int> kFirstPlace;  ///< first row shown

/// The role of the rows' regions, whose ids are the rows; not that of the lens' cells.
constexpr int kLensRow = 1;

extern const MeansForm kLensMeans;

}  // namespace headscope::app
