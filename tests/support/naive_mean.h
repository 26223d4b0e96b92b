#pragma once
#include <cmath>
#include <utility>
#include <vector>

namespace headscope::testing {

/// The mean and its standard error, in two passes over the numbers.
inline std::pair<double, double> mean_and_error(const std::vector<double>& numbers) {
  const auto n = static_cast<double>(numbers.size());
  double mean = 0, squares = 0;
  for (const double number : numbers) mean += number / n;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  return {mean, std::sqrt(squares / (n - 1) / n)};
}

}  // namespace headscope::testing
