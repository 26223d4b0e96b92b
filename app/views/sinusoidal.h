#pragma once
#include <vector>

namespace headscope::app {

/// The positional encoding of Vaswani et al. 2017, section 3.5, [positions, dimensions] row-major:
/// PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same. It is not GPT-2's, which is
/// learned.
std::vector<float> sinusoidal_encoding(int positions, int dimensions);
/// Up to four dimensions, in ascending order, whose curves can be read over `positions`: sines of about 4, 2,
/// 1 and 1/2 periods, as far as the encoding has them.
std::vector<int> readable_dimensions(int positions, int dimensions);
/// One value of it.
float sinusoidal_value(int position, int dimension, int dimensions);

}  // namespace headscope::app
