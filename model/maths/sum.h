#pragma once
#include <array>
#include <cstddef>
#include <numeric>

/// Long sums in double precision.
namespace headscope::model {

/// The sum of term(i) for i in [0, n), in double, whatever term returns. In lanes, so that the compiler can
/// add several at once; another number of lanes rounds otherwise.
template <std::size_t kLanes, class Term>
double sum_in_lanes(std::size_t n, const Term& term) {
  std::array<double, kLanes> lanes{};
  const std::size_t whole = n / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += static_cast<double>(term(i + lane));
  for (std::size_t i = whole; i < n; ++i) lanes[i - whole] += static_cast<double>(term(i));
  return std::accumulate(lanes.begin(), lanes.end(), 0.0);
}

}  // namespace headscope::model
