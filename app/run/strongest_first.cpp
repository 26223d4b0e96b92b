#include "app/run/strongest_first.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace headscope::app {

std::vector<int> strongest_first(std::span<const double> parts) {
  std::vector<int> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  const auto magnitude = [&](int i) { return std::isnan(parts[i]) ? -1.0 : std::abs(parts[i]); };
  std::ranges::stable_sort(order, std::greater<>(), magnitude);
  return order;
}

}  // namespace headscope::app
