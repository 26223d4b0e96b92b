#include "app/run/analyses/sinusoidal.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace headscope::app {
namespace {

/// How similar each value of a column is to the one before: 1 a smooth curve, 0 noise.
double smoothness(std::span<const float> values, int rows, int cols, int col) {
  const auto at = [&](int row) { return static_cast<double>(values[std::ptrdiff_t{row} * cols + col]); };
  double mean = 0, variance = 0, together = 0;
  for (int row = 0; row < rows; ++row) mean += at(row) / rows;
  for (int row = 0; row < rows; ++row) {
    variance += (at(row) - mean) * (at(row) - mean);
    if (row > 0) together += (at(row) - mean) * (at(row - 1) - mean);
  }
  const double ratio = together / variance;
  return std::isfinite(ratio) ? ratio : -1;
}

}  // namespace

double sinusoidal_frequency(int dimension, int dimensions) {
  const int even = dimension - dimension % 2;
  return std::pow(10000.0, -static_cast<double>(even) / dimensions);
}

float sinusoidal_value(int position, int dimension, int dimensions) {
  const double angle = position * sinusoidal_frequency(dimension, dimensions);
  return static_cast<float>(dimension % 2 == 0 ? std::sin(angle) : std::cos(angle));
}

std::vector<int> readable_dimensions(std::span<const float> learned, int positions, int dimensions) {
  std::vector<int> chosen;
  for (const double periods : {4.0, 2.0, 1.0, 0.5}) {
    int best = -1;
    double best_distance = 0, best_smoothness = 0;
    for (int d = 0; d < dimensions; ++d) {
      if (std::ranges::find(chosen, d) != chosen.end()) continue;
      const double made = positions * sinusoidal_frequency(d, dimensions) / (2 * std::numbers::pi);
      // All candidates within half an octave count as equally near.
      const double distance = std::max(0.5, std::abs(std::log2(made / periods)));
      if (best >= 0 && distance > best_distance) continue;
      const double its_smoothness = smoothness(learned, positions, dimensions, d);
      if (best >= 0 && distance == best_distance && its_smoothness <= best_smoothness) continue;
      best = d, best_distance = distance, best_smoothness = its_smoothness;
    }
    if (best >= 0) chosen.push_back(best);
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
    const double angle = sinusoidal_frequency(even, dimensions);
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
