#include "model/kernels/panel_matrix.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "model/kernels/kernels.h"

namespace headscope::model {
namespace {

/// How many of `rows` rows to read at a time, a multiple of `group`: small pieces take longer to ask the
/// system for than to read. Each thread gets some.
int read_at_once(int rows, int group, int width, const ThreadPool& pool) {
  constexpr std::size_t kBytes = 256 << 10;
  const std::size_t bytes = static_cast<std::size_t>(group) * static_cast<std::size_t>(width) * sizeof(float);
  const auto fit = static_cast<int>(kBytes / std::max<std::size_t>(bytes, 1));
  return group * std::clamp(fit, 1, std::max(divide_up(divide_up(rows, group), pool.threads()), 1));
}

/// The number of columns in a panel.
int count_of(const PanelMatrix& m, int panel) {
  return std::min(kPanelCols, m.cols - panel * kPanelCols);
}

/// Writes rows [first, first + rows) of all panels, at `memory`.
void pack_rows(const float* from, const PanelMatrix& m, int first, int rows, std::byte* memory) {
  for (int panel = 0; panel < m.panels(); ++panel) {
    const int count = count_of(m, panel);
    for (int row = 0; row < rows; ++row) {
      std::byte* const out = memory + m.offset_of(first + row, panel * kPanelCols);
      const float* const source = from + static_cast<std::ptrdiff_t>(row) * m.cols + panel * kPanelCols;
      convert({source, static_cast<std::size_t>(count)}, m.precision, out);
      const std::size_t element = element_bytes(m.precision);
      std::fill(out + count * element, out + kPanelCols * element, std::byte{0});
    }
  }
}

/// Writes one panel, at `memory`, from its columns [count, depth].
void pack_columns(const PanelKernels& kernels, const float* from, const PanelMatrix& m, int panel,
                  std::byte* memory) {
  constexpr int kDepth = 128;  // at a time, so that what was transposed is still in the cache
  alignas(64) std::array<float, static_cast<std::size_t>(kDepth) * kPanelCols> rows{};
  for (int k = 0; k < m.depth; k += kDepth) {
    const int depth = std::min(kDepth, m.depth - k);
    kernels.transpose(from + k, m.depth, count_of(m, panel), depth, rows.data(), kPanelCols);
    convert(std::span(rows).first(static_cast<std::size_t>(depth) * kPanelCols), m.precision,
            memory + m.offset_of(k, panel * kPanelCols));
  }
}

}  // namespace

void PanelMatrix::read(const PanelKernels& kernels, int row, int col, FloatRows out) const {
  for (int done = 0, count = 0; done < out.cols; done += count) {
    count = std::min(kPanelCols - (col + done) % kPanelCols, out.cols - done);  // in one panel
    for (int i = 0; i < out.rows; ++i)
      kernels.widen(at(row + i, col + done), precision, count, out.row_data(i) + done);
  }
}

void PanelMatrix::column(const PanelKernels& kernels, int col, std::span<float> out) const {
  assert(out.size() == static_cast<std::size_t>(depth));
  for (int row = 0; row < depth; ++row) __builtin_prefetch(at(row, col));  // else each read waits for memory
  read(kernels, 0, col, {out.data(), depth, 1, 1});
}

void convert(std::span<const float> from, Precision precision, void* to) {
  const Eigen::Map<const Eigen::ArrayXf> floats(from.data(), std::ssize(from));
  const auto write = [&]<class To>(To* out) {
    Eigen::Map<Eigen::ArrayX<To>>(out, floats.size()) = floats.cast<To>();
  };
  switch (precision) {
    case Precision::f32:
      return write(static_cast<float*>(to));
    case Precision::f16:
      return write(static_cast<Eigen::half*>(to));
    case Precision::bf16:
      return write(static_cast<Eigen::bfloat16*>(to));
  }
}

bool exceeds_half(std::span<const float> values) {
  constexpr float kRoundsToInfinity = 65520;  // half way from the largest float16 to 2^16
  return std::ranges::any_of(
      values, [](float value) { return std::abs(value) >= kRoundsToInfinity && std::isfinite(value); });
}

PanelMatrix pack(const ReadFloats& read, bool transposed, PanelMatrix m, std::byte* memory,
                 ThreadPool& pool) {
  constexpr int kRows = 16;  // packed at a time: writes 4 KiB of each panel
  m.data = memory;
  const PanelKernels kernels = fastest_kernels();
  const int rows = transposed ? m.cols : m.depth, width = transposed ? m.depth : m.cols;
  const int group = transposed ? kPanelCols : kRows, at_once = read_at_once(rows, group, width, pool);
  pool.parallel_for(divide_up(rows, at_once), [&](int block, int thread) {
    const int begin = block * at_once, end = std::min(begin + at_once, rows);
    const auto wide = static_cast<std::size_t>(width), first = static_cast<std::size_t>(begin) * wide;
    const float* from = read(first, static_cast<std::size_t>(end) * wide - first, thread);
    for (int row = begin; row < end; row += group, from += group * wide) {
      if (transposed)
        pack_columns(kernels, from, m, row / kPanelCols, memory);
      else
        pack_rows(from, m, row, std::min(group, end - row), memory);
    }
  });
  return m;
}

}  // namespace headscope::model
