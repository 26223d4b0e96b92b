#pragma once
#include <span>
#include <vector>

namespace headscope::app {

/// The positional encoding of Vaswani et al. 2017, section 3.5, [positions, dimensions] row-major:
/// PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same. It is not GPT-2's, which is
/// learned.
std::vector<float> sinusoidal_encoding(int positions, int dimensions);
/// Up to four dimensions, in ascending order, whose curves are readable over all positions: about 4, 2, 1 and
/// 1/2 periods of the sinusoids. Of the candidates, those where `learned` ([positions, dimensions] row-major)
/// is smoothest.
std::vector<int> readable_dimensions(std::span<const float> learned, int positions, int dimensions);
/// Radians from one position to the next in a dimension: 1 / 10000^(2i/d) for both dimensions of the i-th
/// pair.
double sinusoidal_frequency(int dimension, int dimensions);
/// One value of the encoding.
float sinusoidal_value(int position, int dimension, int dimensions);

}  // namespace headscope::app
