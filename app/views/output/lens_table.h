#pragma once
#include "app/views/view.h"

namespace headscope::app {

enum class LensAt { all, query };
/// The positions that the lens's table has numbers of. Means over prompts of different lengths need the query
/// alone.
extern const Option<LensAt> kLensAt;

/// A row for each of these positions and each place, shown or not.
Table lens_table(const ViewContext& context);

}  // namespace headscope::app
