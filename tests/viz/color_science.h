#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "viz/scene/geometry.h"

/// Colour measures for tests, implemented from their definitions and independently of the program.
namespace headscope::viz::testing {

using Triple = std::array<double, 3>;

inline Triple linear(Color c) {
  const auto decode = [](int v) {
    const double s = v / 255.0;
    return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
  };
  return {decode(c.r), decode(c.g), decode(c.b)};
}

/// Relative luminance, WCAG 2.
inline double luminance(const Triple& rgb) {
  return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
}

/// Contrast ratio, WCAG 2: 1 to 21.
inline double contrast(Color a, Color b) {
  const double la = luminance(linear(a)), lb = luminance(linear(b));
  return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

/// CIE L*: 0 to 100.
inline double lightness(const Triple& rgb) {
  const double y = luminance(rgb);
  return y > 216.0 / 24389 ? 116 * std::cbrt(y) - 16 : y * 24389 / 27;
}

/// Oklab from linear sRGB, as published.
inline Triple oklab(const Triple& c) {
  const double l = std::cbrt(0.4122214708 * c[0] + 0.5363325363 * c[1] + 0.0514459929 * c[2]);
  const double m = std::cbrt(0.2119034982 * c[0] + 0.6806995451 * c[1] + 0.1073969566 * c[2]);
  const double s = std::cbrt(0.0883024619 * c[0] + 0.2817188376 * c[1] + 0.6299787005 * c[2]);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

inline double difference(const Triple& a, const Triple& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
inline double difference(Color a, Color b) {
  return difference(oklab(linear(a)), oklab(linear(b)));
}

/// Full protanopia, deutanopia and tritanopia, for linear sRGB. Machado, Oliveira, Fernandes 2009.
inline constexpr std::array<std::array<Triple, 3>, 3> kColourBlindness = {{
    {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
}};

inline Triple seen_by(const std::array<Triple, 3>& matrix, Color c) {
  const Triple v = linear(c);
  Triple seen;
  for (std::size_t i = 0; i < 3; ++i) {
    seen[i] = std::clamp(matrix[i][0] * v[0] + matrix[i][1] * v[1] + matrix[i][2] * v[2], 0.0, 1.0);
  }
  return seen;
}

}  // namespace headscope::viz::testing
