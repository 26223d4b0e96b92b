#pragma once
#include <cstddef>
#include <functional>
#include <span>

#include "model/kernels/panels.h"
#include "model/kernels/precision.h"
#include "model/kernels/thread_pool.h"
#include "model/kernels/view.h"

namespace headscope::model {

/// A matrix [depth, cols] that activations are multiplied by, stored as consecutive panels of 64 columns; the
/// last panel is padded with columns of zeros.
struct PanelMatrix {
  const void* data = nullptr;
  int depth = 0;
  int cols = 0;
  Precision precision = Precision::f32;

  int panels() const { return divide_up(cols, kPanelCols); }
  std::size_t bytes() const { return offset_of(0, panels() * kPanelCols); }

  /// Where an element is, in bytes; those that follow in its row of the same panel are adjacent.
  std::size_t offset_of(int row, int col) const {
    const auto panel = static_cast<std::size_t>(col / kPanelCols);
    return ((panel * depth + row) * kPanelCols + col % kPanelCols) * element_bytes(precision);
  }
  const void* at(int row, int col) const { return static_cast<const std::byte*>(data) + offset_of(row, col); }

  /// out = the part that begins at a row and a column, as float32.
  void read(const PanelKernels& kernels, int row, int col, FloatRows out) const;

  /// out [depth] = column `col`, as float32.
  void column(const PanelKernels& kernels, int col, std::span<float> out) const;
};

/// to [n] = from [n], rounded to the nearest, ties to even; `to` aligned for its elements.
void convert(std::span<const float> from, Precision precision, void* to);

/// Whether some finite number rounds to infinity in float16.
bool exceeds_half(std::span<const float> values);

/// Where a part of a matrix begins.
struct MatrixCorner {
  int row = 0;
  int col = 0;
};

/// Returns `count` floats of a matrix from `first` on, row-major without gaps, valid until the same thread
/// calls it next. May throw.
using ReadFloats = std::function<const float*(std::size_t first, std::size_t count, int thread)>;

/// Writes a matrix of this shape and precision to `memory` (m.bytes(), aligned to cache lines), rounded to
/// the nearest, ties to even, and returns it there. `transposed`: it is read as [cols, depth].
PanelMatrix pack(const ReadFloats& read, bool transposed, PanelMatrix m, std::byte* memory, ThreadPool& pool);

/// A Conv1D of Hugging Face's GPT-2: y = x * weight + bias, weight [in, out], bias [out].
struct LinearWeights {
  PanelMatrix weight;
  std::span<const float> bias;
};

}  // namespace headscope::model
