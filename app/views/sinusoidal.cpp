#include "app/views/sinusoidal.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace headscope::app {
namespace {

double frequency(int dimension, int dimensions) {
  const int even = dimension - dimension % 2;
  return std::pow(10000.0, -static_cast<double>(even) / dimensions);
}

}  // namespace

float sinusoidal_value(int position, int dimension, int dimensions) {
  const double angle = position * frequency(dimension, dimensions);
  return static_cast<float>(dimension % 2 == 0 ? std::sin(angle) : std::cos(angle));
}

std::vector<int> readable_dimensions(int positions, int dimensions) {
  std::vector<int> chosen;
  const int sines = (dimensions + 1) / 2;
  for (const double periods : {4.0, 2.0, 1.0, 0.5}) {
    // The frequency 10000^(-2i/d) makes so many periods of the positions.
    const double wanted = 2 * std::numbers::pi * periods / std::max(1, positions);
    const double pair = std::log(wanted) / std::log(10000.0) * -0.5 * dimensions;
    int i = static_cast<int>(std::lround(std::clamp(pair, 0.0, std::max(0.0, sines - 1.0))));
    while (i + 1 < sines && std::ranges::find(chosen, 2 * i) != chosen.end()) ++i;
    if (2 * i < dimensions && std::ranges::find(chosen, 2 * i) == chosen.end()) chosen.push_back(2 * i);
  }
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<float> sinusoidal_encoding(int positions, int dimensions) {
  const auto d = static_cast<std::size_t>(dimensions);
  std::vector<float> encoding(static_cast<std::size_t>(positions) * d);
  // Each frequency is a rotation from position to position; in double its error stays below 1e-12 over any
  // context.
  struct Rotation {
    double step_cos, step_sin, cos = 1, sin = 0;
  };
  std::vector<Rotation> rotations;
  rotations.reserve((d + 1) / 2);
  for (int even = 0; even < dimensions; even += 2) {
    const double angle = frequency(even, dimensions);
    rotations.push_back({std::cos(angle), std::sin(angle)});
  }
  float* out = encoding.data();
  for (int position = 0; position < positions; ++position, out += d) {
    for (std::size_t i = 0; i < rotations.size(); ++i) {
      Rotation& r = rotations[i];
      out[2 * i] = static_cast<float>(r.sin);
      if (2 * i + 1 < d) out[2 * i + 1] = static_cast<float>(r.cos);
      const double sin = r.sin * r.step_cos + r.cos * r.step_sin;
      r.cos = r.cos * r.step_cos - r.sin * r.step_sin;
      r.sin = sin;
    }
  }
  return encoding;
}

}  // namespace headscope::app
