#pragma once
#include <algorithm>
#include <cmath>

#include "viz/scene/scene.h"

namespace headscope::viz {

/// A bitmap for a file that stretches it over `dest`: each pixel repeated often enough that no viewer blurs
/// it, up to a limit of size.
inline Bitmap enlarged(const Bitmap& bitmap, const Rect& dest) {
  constexpr int kLargest = 4096;  // side up to which it is enlarged
  constexpr int kMostEnlarged = 16;
  const auto factor = [](float length, int pixels) {
    const int wanted = std::max(2, static_cast<int>(std::ceil(length / static_cast<float>(pixels))));
    return std::clamp(wanted, 1, std::clamp(kLargest / pixels, 1, +kMostEnlarged));
  };
  const int across = factor(dest.w, bitmap.width), down = factor(dest.h, bitmap.height);
  Bitmap result = Bitmap::filled(bitmap.width * across, bitmap.height * down, {});
  for (int y = 0; y < result.height; ++y)
    for (int x = 0; x < result.width; ++x) result.at(x, y) = bitmap.at(x / across, y / down);
  return result;
}

}  // namespace headscope::viz
