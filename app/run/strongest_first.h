#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

namespace headscope::app {

/// Indices of parts by descending magnitude; ties by index, NaN last.
inline std::vector<int> strongest_first(std::span<const double> parts) {
  std::vector<int> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  const auto magnitude = [&](int i) { return std::isnan(parts[i]) ? -1.0 : std::abs(parts[i]); };
  std::ranges::stable_sort(order, std::greater<>(), magnitude);
  return order;
}

}  // namespace headscope::app
