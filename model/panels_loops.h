#pragma once
#include "model/panels.h"

/// The loops of PanelKernels over an instruction set `S`, a type local to the file that includes this one:
///   Vector, kLanes           a register of floats
///   kRows                    most rows of a tile of sums that is kept in registers
///   vectors(rows)            vectors across such a tile, so that the sums, one row of w and one element of x
///                            fit the registers
///   zero(), broadcast(x), load(p), load_first(p, n), store(p, v), store_first(p, v, n), fma(a, b, c), sum(v)
///                            load widens from float, Half or Brain; of _first: n <= kLanes lanes, the rest 0
///   transpose(Vector (&rows)[kLanes])
namespace headscope::model {
namespace {

struct Half {
  unsigned short bits;
};
struct Brain {
  unsigned short bits;
};

constexpr int smaller(int a, int b) {
  return a < b ? a : b;
}

/// Elements of w that are taken at a time when it streams from memory: a panel as wide as a tile, then the
/// one to its right. Its 32 or 42 rows may each lie on a page of their own. With more of them than the
/// processor has translations and prefetchers for, it was measured to slow down by half.
constexpr int kStreamedElements = 2048;

constexpr int kLineBytes = 64;

/// Asks for a panel of w, row by row, spread over the time that work on another panel takes.
struct Fetch {
  const char* next = nullptr;  ///< null: nothing to ask for
  std::ptrdiff_t stride = 0;   ///< bytes from row to row
  int bytes = 0;               ///< of a row
  int every = 1;               ///< steps from one row to the next

  void step(int i) {
    if (next == nullptr || i % every != 0) return;
    for (int byte = 0; byte < bytes; byte += kLineBytes) __builtin_prefetch(next + byte, 0, 2);
    next += stride;
  }
};

/// y [kRows, kVectors * lanes] (+)= x [kRows, depth] * w [depth, kVectors * lanes]. kTail: of the only
/// vector, the first `tail` lanes.
template <class S, class T, int kRows, int kVectors, bool kTail>
void tile(const float* x, std::ptrdiff_t x_stride, const T* w, std::ptrdiff_t w_stride, int depth, int tail,
          const float* bias, bool accumulate, float* y, std::ptrdiff_t y_stride, Fetch& fetch) {
  using V = typename S::Vector;
  static_assert(!kTail || kVectors == 1);
  const auto load = [&](const auto* p) {
    if constexpr (kTail) {
      return S::load_first(p, tail);
    } else {
      return S::load(p);
    }
  };

  V sums[kRows][kVectors];
  for (int i = 0; i < kRows; ++i) {
    for (int v = 0; v < kVectors; ++v) {
      const float* start = accumulate ? y + i * y_stride : bias;
      sums[i][v] = start != nullptr ? load(start + v * S::kLanes) : S::zero();
    }
  }
  for (int step = 0; step < depth; ++step) {
    fetch.step(step);
    if constexpr (kRows < kVectors) {
      V values[kRows];
      for (int i = 0; i < kRows; ++i) values[i] = S::broadcast(x[i * x_stride]);
      for (int v = 0; v < kVectors; ++v) {
        const V weights = load(w + v * S::kLanes);
        for (int i = 0; i < kRows; ++i) sums[i][v] = S::fma(values[i], weights, sums[i][v]);
      }
    } else {
      V weights[kVectors];
      for (int v = 0; v < kVectors; ++v) weights[v] = load(w + v * S::kLanes);
      for (int i = 0; i < kRows; ++i) {
        const V value = S::broadcast(x[i * x_stride]);
        for (int v = 0; v < kVectors; ++v) sums[i][v] = S::fma(value, weights[v], sums[i][v]);
      }
    }
    ++x;
    w += w_stride;
  }
  for (int i = 0; i < kRows; ++i) {
    for (int v = 0; v < kVectors; ++v) {
      float* cell = y + i * y_stride + v * S::kLanes;
      if constexpr (kTail) {
        S::store_first(cell, sums[i][v], tail);
      } else {
        S::store(cell, sums[i][v]);
      }
    }
  }
}

/// A panel of w, [depth, cols], where it stands in a product.
struct Panel {
  int k = 0, depth = 0, col = 0, cols = 0;
};

/// The panels of a product in the order they are taken: all columns of some rows of w, then the next rows.
struct Panels {
  int depth, cols, depth_at_a_time, cols_at_a_time;

  Panel first() const { return at(0, 0); }
  Panel after(const Panel& p) const {
    return p.col + p.cols < cols ? at(p.k, p.col + p.cols) : at(p.k + p.depth, 0);
  }
  bool done(const Panel& p) const { return p.k >= depth; }

 private:
  Panel at(int k, int col) const {
    return {k, smaller(depth_at_a_time, depth - k), col, smaller(cols_at_a_time, cols - col)};
  }
};

/// y's columns of one panel, for kRows rows from `row` on.
template <class S, class T, int kRows, int kVectors>
void rows_of_panel(const Multiplication& m, const Panel& panel, int row, Fetch& fetch) {
  const float* x = m.x + row * m.x_stride + panel.k;
  const T* w = static_cast<const T*>(m.w.data) + panel.k * m.w.stride + panel.col;
  const float* bias = m.bias != nullptr ? m.bias + panel.col : nullptr;
  float* y = m.y + row * m.y_stride + panel.col;
  const bool accumulate = m.accumulate || panel.k > 0;
  constexpr int kCols = kVectors * S::kLanes;
  if (panel.cols == kCols) {
    tile<S, T, kRows, kVectors, false>(x, m.x_stride, w, m.w.stride, panel.depth, 0, bias, accumulate, y,
                                       m.y_stride, fetch);
    return;
  }
  for (int col = 0; col < panel.cols; col += S::kLanes) {
    tile<S, T, kRows, 1, true>(x, m.x_stride, w + col, m.w.stride, panel.depth,
                               smaller(S::kLanes, panel.cols - col), bias != nullptr ? bias + col : nullptr,
                               accumulate, y + col, m.y_stride, fetch);
  }
}

/// The product in tiles of kRows or kRows - 1 rows.
template <class S, class T, int kRows>
void multiply_in_tiles(const Multiplication& m, int tiles) {
  constexpr int kVectors = S::vectors(kRows);
  constexpr int kCols = kVectors * S::kLanes;
  const Panels panels{m.depth, m.cols, m.streams ? kStreamedElements / kCols : m.depth, kCols};
  const int larger_tiles = m.rows - tiles * (kRows - 1);
  for (Panel panel = panels.first(); !panels.done(panel); panel = panels.after(panel)) {
    Fetch fetch;
    const Panel next = panels.after(panel);
    if (m.streams && m.rows > 1 && !panels.done(next)) {  // one row is done before a request could help
      const T* w = static_cast<const T*>(m.w.data) + next.k * m.w.stride + next.col;
      const auto size = static_cast<int>(sizeof(T));
      fetch = {reinterpret_cast<const char*>(w), m.w.stride * size, next.cols * size, tiles};
    }
    int row = 0;
    for (int i = 0; i < tiles; ++i) {
      if (i < larger_tiles) {
        rows_of_panel<S, T, kRows, kVectors>(m, panel, row, fetch);
        row += kRows;
      } else if constexpr (kRows > 1) {
        rows_of_panel<S, T, kRows - 1, kVectors>(m, panel, row, fetch);
        row += kRows - 1;
      }
    }
  }
}

/// Picks the tile's height, so that all tiles of the product have it or one row less.
template <class S, class T, int kRows = S::kRows>
void multiply_elements(const Multiplication& m) {
  const int tiles = (m.rows + S::kRows - 1) / S::kRows;
  if constexpr (kRows > 1) {
    if ((m.rows + tiles - 1) / tiles < kRows) return multiply_elements<S, T, kRows - 1>(m);
  }
  multiply_in_tiles<S, T, kRows>(m, tiles);
}

/// y [kRows, kCols] = x [kRows, depth] * w [kCols, depth]^T.
template <class S, class T, int kRows, int kCols>
void dots_tile(const float* x, std::ptrdiff_t x_stride, const T* w, std::ptrdiff_t w_stride, int depth,
               float* y, std::ptrdiff_t y_stride) {
  using V = typename S::Vector;
  V sums[kRows][kCols];
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kCols; ++j) sums[i][j] = S::zero();
  }
  const auto add = [&](const auto& load) {
    V values[kRows];
    for (int i = 0; i < kRows; ++i) values[i] = load(x + i * x_stride);
    for (int j = 0; j < kCols; ++j) {
      const V weights = load(w + j * w_stride);
      for (int i = 0; i < kRows; ++i) sums[i][j] = S::fma(values[i], weights, sums[i][j]);
    }
  };
  int k = 0;
  for (; k + S::kLanes <= depth; k += S::kLanes) {
    add([&](const auto* p) { return S::load(p + k); });
  }
  if (k < depth) {
    add([&](const auto* p) { return S::load_first(p + k, depth - k); });
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kCols; ++j) y[i * y_stride + j] = S::sum(sums[i][j]);
  }
}

template <class S, class T, int kCols>
void dots_of_columns(const Multiplication& m, int col) {
  const T* w = static_cast<const T*>(m.w.data) + col * m.w.stride;
  const auto rows = [&](auto tile_function, int row) {
    tile_function(m.x + row * m.x_stride, m.x_stride, w, m.w.stride, m.depth, m.y + row * m.y_stride + col,
                  m.y_stride);
  };
  int row = 0;
  for (; row + 4 <= m.rows; row += 4) rows(dots_tile<S, T, 4, kCols>, row);
  if (m.rows - row == 3) rows(dots_tile<S, T, 3, kCols>, row);
  if (m.rows - row == 2) rows(dots_tile<S, T, 2, kCols>, row);
  if (m.rows - row == 1) rows(dots_tile<S, T, 1, kCols>, row);
}

template <class S, class T>
void dots_elements(const Multiplication& m) {
  constexpr int kCols = S::kDots;
  int col = 0;
  for (; col + kCols <= m.cols; col += kCols) dots_of_columns<S, T, kCols>(m, col);
  for (; col < m.cols; ++col) dots_of_columns<S, T, 1>(m, col);
}

template <class S, class T>
void copy_elements(const Elements& w, int rows, int cols, float* out, std::ptrdiff_t out_stride) {
  for (int i = 0; i < rows; ++i) {
    const T* from = static_cast<const T*>(w.data) + i * w.stride;
    float* to = out + i * out_stride;
    int col = 0;
    for (; col + S::kLanes <= cols; col += S::kLanes) S::store(to + col, S::load(from + col));
    if (col < cols) S::store_first(to + col, S::load_first(from + col, cols - col), cols - col);
  }
}

template <class S, class T>
void transpose_elements(const Elements& w, int rows, int cols, float* out, std::ptrdiff_t out_stride) {
  typename S::Vector block[S::kLanes];
  for (int row = 0; row < rows; row += S::kLanes) {
    const int block_rows = smaller(S::kLanes, rows - row);
    for (int col = 0; col < cols; col += S::kLanes) {
      const int block_cols = smaller(S::kLanes, cols - col);
      const T* from = static_cast<const T*>(w.data) + row * w.stride + col;
      float* to = out + col * out_stride + row;
      if (block_rows == S::kLanes && block_cols == S::kLanes) {
        for (int i = 0; i < S::kLanes; ++i) block[i] = S::load(from + i * w.stride);
        S::transpose(block);
        for (int i = 0; i < S::kLanes; ++i) S::store(to + i * out_stride, block[i]);
        continue;
      }
      for (int i = 0; i < S::kLanes; ++i) {
        block[i] = i < block_rows ? S::load_first(from + i * w.stride, block_cols) : S::zero();
      }
      S::transpose(block);
      for (int i = 0; i < block_cols; ++i) S::store_first(to + i * out_stride, block[i], block_rows);
    }
  }
}

/// Calls body(a null pointer to the type of w's elements).
template <class Body>
void with_element_type(const Elements& w, const Body& body) {
  switch (w.precision) {
    case Precision::f32:
      return body(static_cast<const float*>(nullptr));
    case Precision::f16:
      return body(static_cast<const Half*>(nullptr));
    case Precision::bf16:
      return body(static_cast<const Brain*>(nullptr));
  }
}

template <class S>
PanelKernels kernels_of(const char* name) {
  return {
      name,
      [](const Multiplication& m) {
        with_element_type(m.w, [&]<class T>(const T*) { multiply_elements<S, T>(m); });
      },
      [](const Multiplication& m) {
        with_element_type(m.w, [&]<class T>(const T*) { dots_elements<S, T>(m); });
      },
      [](const Elements& w, int rows, int cols, float* out, std::ptrdiff_t out_stride) {
        with_element_type(w, [&]<class T>(const T*) { copy_elements<S, T>(w, rows, cols, out, out_stride); });
      },
      [](const Elements& w, int rows, int cols, float* out, std::ptrdiff_t out_stride) {
        with_element_type(
            w, [&]<class T>(const T*) { transpose_elements<S, T>(w, rows, cols, out, out_stride); });
      },
  };
}

}  // namespace
}  // namespace headscope::model
