#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "viz/scene/scene.h"

namespace headscope::viz {

/// A bitmap that a file carries to be stretched over `dest`: each pixel as so many whole ones that no viewer
/// blurs it, as far as it does not become too large.
inline Bitmap enlarged(const Bitmap& bitmap, const Rect& dest) {
  constexpr int kLargest = 4096;  // side up to which it is enlarged
  constexpr int kMostEnlarged = 16;
  const auto factor = [](float length, int pixels) {
    const int wanted = std::max(2, static_cast<int>(std::ceil(length / static_cast<float>(pixels))));
    return std::clamp(wanted, 1, std::clamp(kLargest / pixels, 1, +kMostEnlarged));
  };
  const int across = factor(dest.w, bitmap.width), down = factor(dest.h, bitmap.height);
  Bitmap result{bitmap.width * across, bitmap.height * down, {}};
  result.pixels.reserve(static_cast<std::size_t>(result.width) * static_cast<std::size_t>(result.height));
  for (int y = 0; y < result.height; ++y)
    for (int x = 0; x < bitmap.width; ++x)
      result.pixels.insert(result.pixels.end(), static_cast<std::size_t>(across), bitmap.at(x, y / down));
  return result;
}

}  // namespace headscope::viz
