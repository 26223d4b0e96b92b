#pragma once
#include <span>
#include <vector>

namespace headscope::app {

/// The positional encoding of Vaswani et al. 2017, section 3.5, [positions, dimensions] row-major:
/// PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same. It is not GPT-2's, which is
/// learned.
std::vector<float> sinusoidal_encoding(int positions, int dimensions);
/// Up to four dimensions, in ascending order, whose curves can be read over all positions: those of about 4,
/// 2, 1 and 1/2 periods of the sinusoids, and of these the ones in which `learned` ([positions, dimensions]
/// row-major) is smoothest.
std::vector<int> readable_dimensions(std::span<const float> learned, int positions, int dimensions);
/// Radians from a position to the next in a dimension: 1 / 10000^(2i/d) of both of the i-th pair.
double sinusoidal_frequency(int dimension, int dimensions);
/// One value of it.
float sinusoidal_value(int position, int dimension, int dimensions);

}  // namespace headscope::app
