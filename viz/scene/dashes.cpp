#include "viz/scene/dashes.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::viz {

std::vector<float> dashes_of(int line, float unit) {
  static constexpr std::array<float, 2> kDashes{2, 1.25F}, kDots{0.5F, 0.75F}, kLong{4, 1}, kShort{1, 1};
  static constexpr std::array<float, 4> kDashDot{2.5F, 0.75F, 0.5F, 0.75F};
  static constexpr std::array<float, 6> kDashDotDot{2, 0.75F, 0.5F, 0.75F, 0.5F, 0.75F};
  static constexpr std::array<std::span<const float>, 7> kPatterns{
      std::span<const float>{}, kDashes, kDots, kDashDot, kLong, kDashDotDot, kShort};
  constexpr int kShift = 3, kCount = static_cast<int>(kPatterns.size());
  const std::span<const float> pattern = kPatterns[(line + line / kCount * kShift) % kCount];
  std::vector<float> lengths(pattern.begin(), pattern.end());
  for (float& length : lengths) length *= unit;
  return lengths;
}

void cut_dashes(std::span<const Point> points, std::span<const float> dashes, Pieces& pieces) {
  constexpr float kLongest = 10'000;  // pixels: a longer part, mostly out of sight, is not counted out
  std::size_t at = 0;
  float left = dashes.empty() ? 0 : dashes[0];  // of the current dash or gap
  bool drawing = false;                         // whether the last piece goes on
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Point from = points[i - 1], to = points[i];
    const float length = std::hypot(to.x - from.x, to.y - from.y);
    const auto point = [&](float along) {
      const float part = along / length;
      return Point{from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part};
    };
    const auto draw = [&](Point start, Point end) {
      if (!drawing) pieces.begin(start);
      pieces.go_on(end);
      drawing = true;
    };
    if (length > kLongest || !(left > 0)) {
      draw(from, to);
      continue;
    }
    for (float done = 0; done < length;) {
      const float step = std::min(left, length - done);
      const float end = left < length - done ? done + step : length;
      if (at % 2 == 0) draw(point(done), end == length ? to : point(end));
      done = end;
      left -= step;
      if (left > 0) continue;
      drawing = false;
      at = (at + 1) % dashes.size();
      left = dashes[at];
    }
  }
}

}  // namespace headscope::viz
