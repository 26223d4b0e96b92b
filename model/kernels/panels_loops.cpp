#include "model/kernels/panels.h"
#include "model/kernels/rows_loops.h"
#include "model/kernels/vectors.h"

/// The loops of PanelKernels. A product is this, and every loop below computes its cells:
///
///   for (int i = 0; i < rows; ++i)
///     for (int j = 0; j < cols; ++j) {
///       float sum = 0;
///       for (int k = 0; k < depth; ++k) sum += x[i][k] * w[k][j];
///       y[i][j] = bias[j] + sum;
///     }
///
/// The processor could do some hundred times as much: here each multiply-add waits for the one before, and
/// reads a number of w that is a whole row away from the last one. Step by step:
///
/// 1. Vectors. Neighbouring cells are computed together, one in each lane of a register, with the loop over k
/// around them: rows of w are read in order, and an element of x goes to all lanes.
///
/// 2. Tiles, see `tile`. The sums of up to 6 rows and some vectors of columns stay in registers while k runs.
/// A vector of w serves all of the rows, and the sums do not wait for each other.
///
/// 3. Panels. Weights are packed when a model is loaded, 64 columns together, [depth, 64] without gaps: a
/// tile reads one stream from memory, however wide the matrix is.
///
/// 4. Blocks, see `block_of_panel`. All rows of x are multiplied by 128 rows of a panel before the next ones
/// come, so that these are read from memory once and stay in the L1 cache. A block's sums start at zero and
/// are then added to y, which also rounds less than one long chain.
///
/// 5. Prefetching, see `Fetch`. While a block is multiplied, the next one comes from memory.
///
/// 6. Half precision is widened as it is read or, if a block has many tiles, once, into the L1 cache.
///
/// product.cpp divides a product among threads, in blocks of rows of x that stay in the L2 cache.
/// `multiply_panel_of` does all of this for one panel. Activations, which are in no panels, take steps 1, 2
/// and 5 in `multiply_floats`.
namespace headscope::model {
namespace {

constexpr int kTileRows = 6;

/// Vectors across a tile of so many rows: its sums, a row of w and an element of x fit the registers, and a
/// panel holds a whole number of tiles.
constexpr int vectors_across(int rows) {
  constexpr int kInPanel = kPanelCols / kLanes;
  const int fit = kRegisters / (rows > 3 ? 8 : rows > 1 ? 4 : 2);
  return fit < kInPanel ? fit : kInPanel;
}

constexpr int smaller(int a, int b) {
  return a < b ? a : b;
}

/// A number as a type.
template <auto kValue>
struct Number {};

constexpr int kLineBytes = 64;

/// Number of memory streams that a block is prefetched in: several in turn are faster than one.
constexpr int kStreams = 4;

/// Maximum number of calls of `tile` for which several streams were measured to be faster; with more calls,
/// memory has enough time.
constexpr int kCallsOfStreams = 3;

/// What to prefetch while a block of weights is multiplied: for each row of the block `lines` cache lines of
/// one stream, after which every stream advances by `advance` bytes. Up to half a line of a call's share is
/// left out: even prefetching was measured to be a tenth faster than bursts.
struct Fetch {
  const char* next = nullptr;
  int lines = 0;
  int stream_stride = 0;  ///< bytes between streams
  int advance = 0;
};

/// A Fetch with which `calls` calls of `tile` together prefetch `depth` rows of `bytes`.
constexpr Fetch evenly(const char* next, int depth, int bytes, int calls) {
  if (next == nullptr) return {};
  const int step = (bytes + calls - 1) / calls;  // a call's share of a row
  const int lines = step > 2 * kLineBytes ? 4 : step > kLineBytes + kLineBytes / 2 ? 2 : 1;
  const bool in_turn = calls > kCallsOfStreams;  // else each stream has its part of the rows
  return {.next = next,
          .lines = lines,
          .stream_stride = in_turn ? step : depth / kStreams * bytes,
          .advance = in_turn ? kStreams * step : step};
}

/// y [kRows, kVectors * lanes] = start + x [kRows, depth] * w [depth, kVectors * lanes]. The values at
/// `start`, with `start_stride` between rows, are added last; null: none. kTail: there is one vector, of
/// which only the first `tail` lanes are used. kLines: fetch.lines, which are unrolled: counting them was
/// measured to take up to a fifth of the time.
template <class T, int kRows, int kVectors, int kLines, bool kTail>
void tile(const float* x, std::ptrdiff_t x_stride, const T* w, std::ptrdiff_t w_stride, int depth, int tail,
          const float* start, std::ptrdiff_t start_stride, float* y, std::ptrdiff_t y_stride,
          const Fetch& fetch) {
  static_assert(!kTail || kVectors == 1);
  const auto read = [&](const auto* p) INLINE {
    if constexpr (kTail) {
      return load_first(p, tail);
    } else {
      return load(p);
    }
  };

  Vector sums[kRows][kVectors];
  unrolled<kRows, kVectors>([&](int i, int v) INLINE { sums[i][v] = Vector{}; });
  const char* next = fetch.next;
  for (int k = 0; k < depth; ++k) {
    if constexpr (kLines > 0) {
      const char* line = next + k % kStreams * fetch.stream_stride;
      for (int i = 0; i < kLines; ++i) __builtin_prefetch(line + i * kLineBytes, 0, 2);
      if (k % kStreams == kStreams - 1) next += fetch.advance;
    }
    if constexpr (kRows < kVectors) {  // whichever are fewer stay in registers: elements of x or vectors of w
      Vector values[kRows];
      unrolled<kRows, 1>([&](int i, int) INLINE { values[i] = broadcast(x[i * x_stride]); });
      unrolled<kVectors, 1>([&](int v, int) INLINE {
        const Vector weights = read(w + v * kLanes);
        unrolled<kRows, 1>([&](int i, int) INLINE { sums[i][v] = fma(values[i], weights, sums[i][v]); });
      });
    } else {
      Vector weights[kVectors];
      unrolled<kVectors, 1>([&](int v, int) INLINE { weights[v] = read(w + v * kLanes); });
      unrolled<kRows, 1>([&](int i, int) INLINE {
        const Vector value = broadcast(x[i * x_stride]);
        unrolled<kVectors, 1>([&](int v, int) INLINE { sums[i][v] = fma(value, weights[v], sums[i][v]); });
      });
    }
    ++x;
    w += w_stride;
  }
  if (start != nullptr) {
    unrolled<kRows, kVectors>(
        [&](int i, int v) INLINE { sums[i][v] = sums[i][v] + read(start + i * start_stride + v * kLanes); });
  }
  unrolled<kRows, kVectors>([&](int i, int v) INLINE {
    float* cell = y + i * y_stride + v * kLanes;
    if constexpr (kTail) {
      store_first(cell, sums[i][v], tail);
    } else {
      store(cell, sums[i][v]);
    }
  });
}

/// Calls body(first row, number of rows as a constant's type) for tiles of at most kTileRows rows that cover
/// `rows`. Their heights differ by at most one.
template <class Body, int kRows = kTileRows>
void for_tiles(int rows, const Body& body) {
  const int tiles = (rows + kTileRows - 1) / kTileRows;
  if constexpr (kRows > 1) {
    if ((rows + tiles - 1) / tiles < kRows) return for_tiles<Body, kRows - 1>(rows, body);
  }
  const int larger = rows - tiles * (kRows - 1);
  for (int i = 0; i < larger; ++i) body(i * kRows, Number<kRows>{});
  if constexpr (kRows > 1) {
    const int done = larger * kRows;
    for (int i = larger; i < tiles; ++i) body(done + (i - larger) * (kRows - 1), Number<kRows - 1>{});
  }
}

// --- weights in panels ---

/// Prefetches `rows` rows of `cols` floats.
inline void fetch_rows(const float* x, std::ptrdiff_t x_stride, int rows, int cols) {
  constexpr int kLine = kLineBytes / static_cast<int>(sizeof(float));
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < cols; k += kLine) __builtin_prefetch(x + i * x_stride + k, 0, 3);
  }
}

/// Computes all rows of y from rows k .. k + depth of a panel, stored at w. Meanwhile prefetches as many rows
/// of `row_bytes` from `next` on, unless it is null.
template <class T>
void block_of_panel(const PanelProduct& p, const T* w, int k, int depth, const char* next, int row_bytes) {
  const int tiles = (p.rows + kTileRows - 1) / kTileRows;
  const int calls = tiles * kPanelCols / (vectors_across((p.rows + tiles - 1) / tiles) * kLanes);
  Fetch fetch = evenly(next, depth, row_bytes, calls);
  for_tiles(p.rows, [&]<int kRows>(int row, Number<kRows>) {
    if (p.x_is_new) {  // prefetches the next tile while this one is multiplied
      const int next_row = row + kRows;
      fetch_rows(p.x + next_row * p.x_stride + k, p.x_stride, smaller(kTileRows, p.rows - next_row), depth);
    }
    constexpr int kVectors = vectors_across(kRows), kCols = kVectors * kLanes;
    static_assert(kPanelCols % kCols == 0);
    const float* x = p.x + row * p.x_stride + k;
    for (int col = 0; col < kPanelCols; col += kCols) {
      float* y = p.y + row * p.y_stride + col;
      const float* bias = p.bias != nullptr ? p.bias + col : nullptr;
      const auto run = [&]<int kLines>(Number<kLines>) {
        tile<T, kRows, kVectors, kLines, false>(x, p.x_stride, w + col, kPanelCols, depth, 0,
                                                k > 0 ? y : bias, k > 0 ? p.y_stride : 0, y, p.y_stride,
                                                fetch);
        fetch.next += fetch.advance * (depth / kStreams);
      };
      switch (fetch.lines) {
        case 1:
          run(Number<1>{});
          break;
        case 2:
          run(Number<2>{});
          break;
        case 4:
          run(Number<4>{});
          break;
        default:
          run(Number<0>{});
      }
    }
  });
}

/// out [n] = w [n].
template <class T>
void widen_elements(const T* w, int n, float* out) {
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, load(w + i));
  if (i < n) store_first(out + i, load_first(w + i, n - i), n - i);
}

template <class T>
void multiply_panel_of(const T* weights, const PanelProduct& p) {
  constexpr bool kWidens = sizeof(T) != sizeof(float);
  constexpr int kTilesThatWiden = 3;  // each widens on its own; with more of them a widened copy is faster
  constexpr int kRowBytes = kPanelCols * static_cast<int>(sizeof(T));
  const int tiles = (p.rows + kTileRows - 1) / kTileRows;
  for (int k = 0; k < p.depth; k += kPanelDepth) {
    const int depth = smaller(kPanelDepth, p.depth - k);
    const T* w = weights + k * kPanelCols;
    const bool last = k + depth == p.depth;
    const char* next =
        last && !p.another_follows ? nullptr : reinterpret_cast<const char*>(w + depth * kPanelCols);
    if constexpr (kWidens) {
      if (tiles > kTilesThatWiden) {
        widen_elements(w, depth * kPanelCols, p.scratch);
        block_of_panel(p, p.scratch, k, depth, next, kRowBytes);
        continue;
      }
    }
    block_of_panel(p, w, k, depth, next, kRowBytes);
  }
}

// --- activations ---

void multiply_floats(const Multiplication& m) {
  const int tiles = (m.rows + kTileRows - 1) / kTileRows;
  const int bytes = static_cast<int>(m.w_stride) * static_cast<int>(sizeof(float));
  Fetch fetch = evenly(reinterpret_cast<const char*>(m.next), m.depth, bytes, tiles);
  for_tiles(m.rows, [&]<int kRows>(int row, Number<kRows>) {
    const float* x = m.x + row * m.x_stride;
    float* y = m.y + row * m.y_stride;
    const auto run = [&]<int kVectors, int kLines, bool kTail>(int col, int tail, Number<kVectors>,
                                                               Number<kLines>, Number<kTail>) {
      tile<float, kRows, kVectors, kLines, kTail>(x, m.x_stride, m.w + col, m.w_stride, m.depth, tail,
                                                  m.accumulate ? y + col : nullptr, m.y_stride, y + col,
                                                  m.y_stride, fetch);
    };
    constexpr int kVectors = vectors_across(kRows), kCols = kVectors * kLanes;
    constexpr Number<true> kIsTail;
    constexpr Number<false> kNoTail;
    int col = 0;
    if (fetch.next != nullptr && m.cols >= kCols) {  // the first columns prefetch, one line of each row
      run(col, 0, Number<kVectors>{}, Number<1>{}, kNoTail);
      fetch.next += fetch.advance * (m.depth / kStreams);
      col += kCols;
    }
    for (; col + kCols <= m.cols; col += kCols) run(col, 0, Number<kVectors>{}, Number<0>{}, kNoTail);
    for (; col + 2 * kLanes <= m.cols; col += 2 * kLanes) run(col, 0, Number<2>{}, Number<0>{}, kNoTail);
    for (; col < m.cols; col += kLanes) {
      run(col, smaller(kLanes, m.cols - col), Number<1>{}, Number<0>{}, kIsTail);
    }
  });
}

/// Zips the first half of the rows with the second, as often as it takes to bring a column together.
inline void transpose_block(Vector (&rows)[kLanes]) {
  constexpr int kHalf = kLanes / 2;
  for (int gathered = 1; gathered < kLanes; gathered *= 2) {
    Vector zipped[kLanes];
    unrolled<kHalf, 1>([&](int i, int)
                           INLINE { zip(rows[i], rows[i + kHalf], zipped[2 * i], zipped[2 * i + 1]); });
    unrolled<kLanes, 1>([&](int i, int) INLINE { rows[i] = zipped[i]; });
  }
}

void transpose_floats(const float* w, std::ptrdiff_t w_stride, int rows, int cols, float* out,
                      std::ptrdiff_t out_stride) {
  Vector block[kLanes];
  for (int row = 0; row < rows; row += kLanes) {
    const int block_rows = smaller(kLanes, rows - row);
    for (int col = 0; col < cols; col += kLanes) {
      const int block_cols = smaller(kLanes, cols - col);
      const float* from = w + row * w_stride + col;
      float* to = out + col * out_stride + row;
      const bool is_whole = block_rows == kLanes && block_cols == kLanes;
      for (int i = 0; i < kLanes; ++i) {
        if (i >= block_rows)
          block[i] = Vector{};
        else
          block[i] = is_whole ? load(from + i * w_stride) : load_first(from + i * w_stride, block_cols);
      }
      transpose_block(block);
      for (int i = 0; i < block_cols; ++i) {
        if (is_whole)
          store(to + i * out_stride, block[i]);
        else
          store_first(to + i * out_stride, block[i], block_rows);
      }
    }
  }
}

/// Calls body(data as a pointer to its element type).
template <class Body>
void with_elements(const void* data, Precision precision, const Body& body) {
  switch (precision) {
    case Precision::f32:
      return body(static_cast<const float*>(data));
    case Precision::f16:
      return body(static_cast<const Half*>(data));
    case Precision::bf16:
      return body(static_cast<const BFloat16*>(data));
  }
}

}  // namespace

/// Compiled once for each set of instructions, under a name for each (CMakeLists.txt).
PanelKernels HEADSCOPE_KERNELS() {
  const auto multiply_panel = [](const PanelProduct& p) {
    with_elements(p.w, p.precision, [&](const auto* w) { multiply_panel_of(w, p); });
  };
  const auto widen = [](const void* w, Precision precision, int n, float* out) {
    with_elements(w, precision, [&](const auto* elements) { widen_elements(elements, n, out); });
  };
  return {kInstructions, kFused, kRowKernels, multiply_panel, multiply_floats, transpose_floats, widen};
}

}  // namespace headscope::model
