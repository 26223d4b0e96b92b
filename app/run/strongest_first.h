#pragma once
#include <span>
#include <vector>

namespace headscope::app {

/// Indices of parts by descending magnitude; ties by index, NaN last.
std::vector<int> strongest_first(std::span<const double> parts);

}  // namespace headscope::app
