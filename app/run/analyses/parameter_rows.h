#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "model/kernels/view.h"
#include "model/pass/transformer.h"

namespace headscope::app {

/// Rows of a parameter as float32, [rows, cols] row-major; a vector is one row.
struct ParameterRows {
  std::vector<float> values;
  int rows = 0, cols = 0;
  std::span<float> row(int i) { return std::span(values).subspan(std::ptrdiff_t{i} * cols, cols); }
  std::span<const float> row(int i) const { return view().row(i); }
  model::ConstFloatRows view() const { return {values.data(), rows, cols, cols}; }
};

/// Rows [first, first + count) of the parameter with this name; all rows if `count` is negative. Throws
/// RunError if the model has no such parameter.
ParameterRows parameter_rows(const model::Transformer& transformer, std::string_view name, int first = 0,
                             int count = -1);

/// The blocks of columns of `attn.c_attn.weight`, d_model each.
enum class AttentionColumns { query, key, value };

ParameterRows zeros(int rows, int cols);
ParameterRows transposed(const ParameterRows& x);

/// Rows of the unembedding: of `lm_head.weight`, or if the two are tied, of `wte.weight`.
ParameterRows unembedding_rows(const model::Transformer& transformer, int first, int count);

}  // namespace headscope::app
