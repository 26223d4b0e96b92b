#pragma once
#include <cstdint>
#include <vector>

#include "app/run/question.h"
#include "viz/scene/matrix.h"

namespace headscope::app {

/// The values of a parameter at a glance. A vector is one row.
struct TensorPicture {
  static constexpr int kMax = 512;  ///< rows and columns of `pooled`
  static constexpr int kBins = 60;

  int rows = 0;
  int cols = 0;
  int pooled_rows = 0;
  int pooled_cols = 0;
  std::vector<float> pooled;  ///< row-major; each cell has its value of largest magnitude
  float low = 0, high = 0;    ///< range of the finite values; the members below are about these, too
  double mean = 0;
  double deviation = 0;
  std::vector<std::int64_t> bins;  ///< counts in equal bins from bins_low to bins_high
  double bins_low = 0,
         bins_high = 0;     ///< mean ± four deviations, or the range of the values if that is smaller
  std::int64_t beyond = 0;  ///< finite values outside the bins
  std::int64_t not_finite = 0;

  /// The first row (column) of the tensor covered by one of `pooled`; for `pooled_rows` the end.
  int first_row(int pooled_row) const { return first_of(pooled_row, rows, pooled_rows); }
  int first_col(int pooled_col) const { return first_of(pooled_col, cols, pooled_cols); }
  viz::Matrix matrix() const { return viz::Matrix::row_major(pooled, pooled_rows, pooled_cols); }
  std::size_t bytes() const { return bytes_of(pooled, bins); }

 private:
  static int first_of(int cell, int all, int cells) {
    return static_cast<int>((static_cast<std::int64_t>(cell) * all + cells - 1) / cells);
  }
};

struct PictureOfTensor {
  using Answer = TensorPicture;
  static constexpr std::string_view kName = "tensor values";
  static constexpr bool kModelOnly = true;
  int index = 0;  ///< in Transformer::parameters()
  bool operator==(const PictureOfTensor&) const = default;
  /// Parts shown before the end are empty.
  TensorPicture compute(const PromptRun& run, const Computation<TensorPicture>& computation) const;
};

}  // namespace headscope::app
