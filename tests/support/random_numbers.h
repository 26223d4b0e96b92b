#pragma once
#include <cstddef>
#include <random>
#include <vector>

namespace headscope::testing {

/// Normal numbers, the same for the same seed.
inline std::vector<float> normal_numbers(std::size_t count, float spread = 1, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = normal(random);
  return numbers;
}

}  // namespace headscope::testing
