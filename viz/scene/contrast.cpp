#include "viz/scene/contrast.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "viz/scene/picture.h"

namespace headscope::viz {
namespace {

std::array<double, 256> linear_of_srgb() {
  std::array<double, 256> linear{};
  for (std::size_t v = 0; v < linear.size(); ++v) {
    const double s = static_cast<double>(v) / 255;
    linear[v] = s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
  }
  return linear;
}

/// Relative luminance of sRGB, WCAG 2.
double luminance(Color c) {
  static const std::array<double, 256> linear = linear_of_srgb();
  return 0.2126 * linear[c.r] + 0.7152 * linear[c.g] + 0.0722 * linear[c.b];
}

}  // namespace

double contrast_ratio(Color a, Color b) {
  const auto [low, high] = std::minmax({luminance(a), luminance(b)});
  return (high + 0.05) / (low + 0.05);
}

Color word_color(Color color, Color ink, Color ground) {
  constexpr int kSteps = 32;
  for (int i = 0; i < kSteps; ++i) {
    const Color mixed = blended(color, ink.with_alpha(static_cast<std::uint8_t>(255 * i / kSteps)));
    if (contrast_ratio(mixed, ground) >= kReadable) return mixed;
  }
  return ink;
}

Color text_on(const Theme& theme, Color ground) {
  constexpr Color kBlack{0, 0, 0, 255}, kWhite{255, 255, 255, 255};
  const Color opposite = theme.dark ? Color{16, 18, 24, 255} : kWhite;
  const Color best = readable_on(ground, theme.text, opposite);
  return contrast_ratio(ground, best) >= kReadable ? best : readable_on(ground, kBlack, kWhite);
}

}  // namespace headscope::viz
