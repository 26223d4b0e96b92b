#include "model/kernels/panel_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "tests/support/number_matrix.h"
#include "tests/support/parameter_names.h"

namespace headscope::model::panel_matrix_test {
namespace {

using testing::NumberMatrix;

constexpr Precision kPrecisions[] = {Precision::f32, Precision::f16, Precision::bf16};

/// Memory like an arena's, but not zeroed.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : lines_((bytes + sizeof(Line) - 1) / sizeof(Line)), bytes_(bytes) {
    std::memset(lines_.data(), 0xab, lines_.size() * sizeof(Line));
  }
  std::byte* data() { return reinterpret_cast<std::byte*>(lines_.data()); }
  bool same(const Memory& other) const {
    return std::memcmp(lines_.data(), other.lines_.data(), bytes_) == 0;
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_;
  std::size_t bytes_;
};

/// The bits of an element of a panel.
std::uint32_t element(const PanelMatrix& m, int panel, int row, int col) {
  const auto* data = static_cast<const std::byte*>(m.at(panel, row)) +
                     static_cast<std::size_t>(col) * element_bytes(m.precision);
  std::uint32_t bits = 0;
  std::memcpy(&bits, data, element_bytes(m.precision));
  return bits;
}

std::uint32_t expected_bits(float value, Precision precision) {
  return precision == Precision::f32 ? std::bit_cast<std::uint32_t>(value)
                                     : testing::bits_of(value, precision);
}

void expect_packed(const NumberMatrix& source, bool transposed, const PanelMatrix& m) {
  for (int panel = 0; panel < m.panels(); ++panel) {
    for (int row = 0; row < m.depth; ++row) {
      for (int i = 0; i < kPanelCols; ++i) {
        const int col = panel * kPanelCols + i;
        const std::uint32_t found = element(m, panel, row, i);
        if (col >= m.cols) {
          ASSERT_EQ(found, 0U) << "padding of row " << row << ", column " << col;
        } else {
          const float value = transposed ? source(col, row) : source(row, col);
          ASSERT_EQ(found, expected_bits(value, m.precision)) << "row " << row << ", column " << col;
        }
      }
    }
  }
}

class Packing : public ::testing::TestWithParam<std::tuple<Precision, Precision, bool>> {};

TEST_P(Packing, PutsEveryNumberInItsPlaceRoundedAndZerosBehind) {
  const auto [from, to, transposed] = GetParam();
  std::mt19937 generator(5);
  ThreadPool one(1), three(3);
  for (const auto& [depth, cols] : {std::pair{1, 1},
                                    {1, 130},
                                    {300, 1},
                                    {5, 63},
                                    {16, 64},
                                    {17, 65},
                                    {127, 128},
                                    {128, 129},
                                    {129, 200},
                                    {257, 70}}) {
    SCOPED_TRACE(std::to_string(depth) + "x" + std::to_string(cols));
    const NumberMatrix source(transposed ? cols : depth, transposed ? depth : cols, from, generator);
    const std::size_t bytes = panel_matrix_bytes(depth, cols, to);
    EXPECT_EQ(bytes, static_cast<std::size_t>(depth * ((cols + 63) / 64 * 64)) * element_bytes(to));
    Memory memory(bytes), again(bytes);
    const PanelMatrix m = pack({source.data(), from, transposed}, depth, cols, to, memory.data(), one);
    ASSERT_EQ(m.depth, depth);
    ASSERT_EQ(m.cols, cols);
    ASSERT_EQ(m.precision, to);
    ASSERT_EQ(m.panels(), (cols + kPanelCols - 1) / kPanelCols);
    expect_packed(source, transposed, m);

    pack({source.data(), from, transposed}, depth, cols, to, again.data(), three);
    EXPECT_TRUE(again.same(memory)) << "with three threads";

    std::vector<float> column(depth);
    for (const int col : {0, cols / 2, cols - 1}) {
      m.column(fastest_kernels(), col, column);
      for (int row = 0; row < depth; ++row) {
        const float value = transposed ? source(col, row) : source(row, col);
        ASSERT_EQ(column[row], testing::rounded(value, to)) << "row " << row;
      }
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<Precision, Precision, bool>>& packing) {
  const auto [from, to, transposed] = packing.param;
  return testing::name_of(from) + "_to_" + testing::name_of(to) + (transposed ? "_transposed" : "");
}

INSTANTIATE_TEST_SUITE_P(Precisions, Packing,
                         ::testing::Combine(::testing::ValuesIn(kPrecisions),
                                            ::testing::ValuesIn(kPrecisions), ::testing::Bool()),
                         name_of);

}  // namespace
}  // namespace headscope::model::panel_matrix_test
