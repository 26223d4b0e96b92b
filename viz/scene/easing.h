#pragma once
#include <concepts>

namespace headscope::viz {

/// An S-shaped course from 0 to 1 for t in [0, 1]: slow at both ends.
template <std::floating_point T>
constexpr T eased(T t) {
  return t * t * (3 - 2 * t);
}

}  // namespace headscope::viz
