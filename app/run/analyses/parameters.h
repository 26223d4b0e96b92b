#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "app/run/question.h"
#include "model/kernels/view.h"
#include "model/pass/transformer.h"
#include "viz/scene/matrix.h"

namespace headscope::app {

/// A matrix of numbers, row-major.
template <class Number>
struct OwnRows {
  std::vector<Number> values;
  int rows = 0, cols = 0;
  std::span<Number> row(int i) { return view().row(i); }
  std::span<const Number> row(int i) const { return view().row(i); }
  model::Rows<Number> view() { return {values.data(), rows, cols, cols}; }
  model::Rows<const Number> view() const { return {values.data(), rows, cols, cols}; }
};

template <class Number = float>
OwnRows<Number> zeros(int rows, int cols) {
  return {std::vector<Number>(static_cast<std::size_t>(std::ptrdiff_t{rows} * cols)), rows, cols};
}

/// Rows of a parameter as float32; a vector is one row.
using ParameterRows = OwnRows<float>;

/// The unembedding, also where it is tied, and the model has it as "wte.weight".
inline constexpr std::string_view kUnembedding = "lm_head.weight";

/// Rows [first, first + count) of the parameter with this name; all rows if `count` is negative. Throws
/// RunError if the model has no such parameter.
ParameterRows parameter_rows(const model::Transformer& transformer, std::string_view name, int first = 0,
                             int count = -1);

/// The same of a layer's parameter: "attn.c_proj.weight".
ParameterRows layer_rows(const model::Transformer& transformer, int layer, std::string_view name,
                         int first = 0, int count = -1);

/// The blocks of columns of `attn.c_attn.weight`, d_model each.
enum class AttentionColumns { query, key, value };

ParameterRows transposed(const ParameterRows& x);

/// The mean of all rows of a parameter that has one for each token of the vocabulary.
std::vector<double> mean_of_tokens(const model::Transformer& transformer, std::string_view name);

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
  static constexpr std::string_view kName = "tensor values";
  static constexpr bool kModelOnly = true;
  int index = 0;  ///< in Transformer::parameters()
  bool operator==(const PictureOfTensor&) const = default;
  TensorPicture compute(const PromptRun& run, const Computation<TensorPicture>& computation) const;
};

/// Whether a run's model has the bundled model's weights, wherever its files are.
struct IsBundledModel {
  static constexpr std::string_view kName = "whether this is the bundled model";
  static constexpr bool kQuick = true;  // large files are not read: their size is enough
  static constexpr bool kModelOnly = true;
  static constexpr Capability kNeeds = Capability::patterns;
  bool operator==(const IsBundledModel&) const = default;
  /// No also if one of the models' files cannot be read.
  bool compute(const PromptRun& run, const Computation<bool>& computation) const;
};

}  // namespace headscope::app
