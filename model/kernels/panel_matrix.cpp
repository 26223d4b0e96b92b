#include "model/kernels/panel_matrix.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>

namespace headscope::model {
namespace {

std::size_t panel_bytes(int depth, Precision precision) {
  return static_cast<std::size_t>(depth) * kPanelCols * element_bytes(precision);
}

/// Complete rows of a source, in its own precision.
struct SourceRows {
  const std::byte* data;
  std::size_t width;  // elements per row
  Precision precision;

  const std::byte* at(int row, int col) const {
    return data +
           (static_cast<std::size_t>(row) * width + static_cast<std::size_t>(col)) * element_bytes(precision);
  }
  SourceRows from(int row) const { return {at(row, 0), width, precision}; }
};

SourceRows rows_of(const MatrixSource& source, int width, int first, int rows, int thread) {
  const auto wide = static_cast<std::size_t>(width);
  const std::size_t begin = static_cast<std::size_t>(first) * wide;
  const void* data =
      source.read ? source.read(begin, static_cast<std::size_t>(rows) * wide, thread)
                  : static_cast<const std::byte*>(source.data) + begin * element_bytes(source.precision);
  return {static_cast<const std::byte*>(data), wide, source.precision};
}

int blocks_of(int count, int at_once) {
  return (count + at_once - 1) / at_once;
}

/// How many of `groups` groups, each of so many elements, to read at a time: small pieces take longer to ask
/// the system for than to read. Each thread gets some.
int read_at_once(int groups, int rows, int width, Precision precision, const ThreadPool& pool) {
  constexpr std::size_t kBytes = 256 << 10;
  const std::size_t bytes =
      static_cast<std::size_t>(rows) * static_cast<std::size_t>(width) * element_bytes(precision);
  const auto fit = static_cast<int>(kBytes / std::max<std::size_t>(bytes, 1));
  return std::clamp(fit, 1, std::max(blocks_of(groups, pool.threads()), 1));
}

/// Like convert, by the processor's fastest loops where numbers become floats.
void convert_fast(const PanelKernels& kernels, Precision from_precision, const void* from, int n,
                  Precision to_precision, void* to) {
  if (to_precision == Precision::f32 && from_precision != Precision::f32) {
    kernels.widen(from, from_precision, n, static_cast<float*>(to));
  } else {
    convert(from_precision, from, static_cast<std::size_t>(n), to_precision, to);
  }
}

/// Rows [first, first + rows) of all panels.
void pack_rows(const PanelKernels& kernels, const SourceRows& source, const PanelMatrix& m, int first,
               int rows, std::byte* memory) {
  const std::size_t bytes = element_bytes(m.precision);
  for (int panel = 0; panel < m.panels(); ++panel) {
    const int col = panel * kPanelCols, cols = std::min(kPanelCols, m.cols - col);
    std::byte* out = memory + static_cast<std::size_t>(panel) * panel_bytes(m.depth, m.precision) +
                     static_cast<std::size_t>(first) * kPanelCols * bytes;
    for (int row = 0; row < rows; ++row, out += kPanelCols * bytes) {
      convert_fast(kernels, source.precision, source.at(row, col), cols, m.precision, out);
      std::fill(out + static_cast<std::size_t>(cols) * bytes, out + kPanelCols * bytes, std::byte{0});
    }
  }
}

/// out [depth, kPanelCols] from `count` rows [count, depth] of the source, Bits wide.
template <class Bits>
void transpose_bits(const Bits* rows, int count, int depth, Bits* out) {
  constexpr int kBlock = 16;  // rows of depth processed at a time
  for (int first = 0; first < depth; first += kBlock) {
    const int last = std::min(first + kBlock, depth);
    for (int k = first; k < last; ++k) {
      Bits* to = out + static_cast<std::ptrdiff_t>(k) * kPanelCols;
      for (int j = 0; j < count; ++j) to[j] = rows[static_cast<std::ptrdiff_t>(j) * depth + k];
      std::fill(to + count, to + kPanelCols, Bits{0});
    }
  }
}

/// The number of columns in a panel.
int count_of(const PanelMatrix& m, int panel) {
  return std::min(kPanelCols, m.cols - panel * kPanelCols);
}

/// Packs one panel from its rows of the transposed source.
void pack_transposed(const PanelKernels& kernels, const SourceRows& source, const PanelMatrix& m, int panel,
                     std::byte* memory) {
  const int count = count_of(m, panel);
  std::byte* out = memory + static_cast<std::size_t>(panel) * panel_bytes(m.depth, m.precision);
  constexpr int kDepth = 128;  // converted at a time, so that the result is still in the cache
  alignas(64) std::array<std::uint32_t, static_cast<std::size_t>(kDepth) * kPanelCols> converted;
  for (int k = 0; k < m.depth; k += kDepth) {
    const int depth = std::min(kDepth, m.depth - k);
    std::byte* to = out + static_cast<std::size_t>(k) * kPanelCols * element_bytes(m.precision);
    if (m.precision == Precision::f32 && source.precision == Precision::f32 && count == kPanelCols) {
      const auto* from = reinterpret_cast<const float*>(source.at(0, k));
      kernels.transpose(from, m.depth, count, depth, reinterpret_cast<float*>(to), kPanelCols);
      continue;
    }
    auto* bytes = reinterpret_cast<std::byte*>(converted.data());
    for (int j = 0; j < count; ++j) {
      convert_fast(kernels, source.precision, source.at(j, k), depth, m.precision,
                   bytes + static_cast<std::size_t>(j) * depth * element_bytes(m.precision));
    }
    if (m.precision == Precision::f32) {
      transpose_bits(converted.data(), count, depth, reinterpret_cast<std::uint32_t*>(to));
    } else {
      transpose_bits(reinterpret_cast<const std::uint16_t*>(bytes), count, depth,
                     reinterpret_cast<std::uint16_t*>(to));
    }
  }
}

}  // namespace

const void* PanelMatrix::at(int panel, int row) const {
  return static_cast<const std::byte*>(data) +
         static_cast<std::size_t>(panel) * panel_bytes(depth, precision) + panel_bytes(row, precision);
}

void PanelMatrix::column(const PanelKernels& kernels, int col, std::span<float> out) const {
  assert(out.size() == static_cast<std::size_t>(depth));
  const auto* from = static_cast<const std::byte*>(at(col / kPanelCols, 0)) +
                     static_cast<std::size_t>(col % kPanelCols) * element_bytes(precision);
  for (float& value : out) {
    kernels.widen(from, precision, 1, &value);
    from += panel_bytes(1, precision);
  }
}

std::size_t panel_matrix_bytes(int depth, int cols, Precision precision) {
  return PanelMatrix{nullptr, depth, cols, precision}.panels() * panel_bytes(depth, precision);
}

PanelMatrix pack(const MatrixSource& source, int depth, int cols, Precision precision, std::byte* memory,
                 ThreadPool& pool) {
  const PanelMatrix m{memory, depth, cols, precision};
  const PanelKernels kernels = fastest_kernels();
  if (source.transposed) {
    const int at_once = read_at_once(m.panels(), kPanelCols, depth, source.precision, pool);
    pool.parallel_for(blocks_of(m.panels(), at_once), [&](int block, int thread) {
      const int first = block * at_once, last = std::min(first + at_once, m.panels());
      const int col = first * kPanelCols;
      const SourceRows rows = rows_of(source, depth, col, std::min(last * kPanelCols, cols) - col, thread);
      for (int panel = first; panel < last; ++panel)
        pack_transposed(kernels, rows.from((panel - first) * kPanelCols), m, panel, memory);
    });
    return m;
  }
  constexpr int kRows = 16;  // packed at a time: writes 4 KiB of each panel
  const int at_once = kRows * read_at_once(blocks_of(depth, kRows), kRows, cols, source.precision, pool);
  pool.parallel_for(blocks_of(depth, at_once), [&](int block, int thread) {
    const int first = block * at_once, count = std::min(at_once, depth - first);
    const SourceRows rows = rows_of(source, cols, first, count, thread);
    for (int row = 0; row < count; row += kRows)
      pack_rows(kernels, rows.from(row), m, first + row, std::min(kRows, count - row), memory);
  });
  return m;
}

}  // namespace headscope::model
