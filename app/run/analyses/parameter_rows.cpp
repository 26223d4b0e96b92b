#include "app/run/analyses/parameter_rows.h"

#include <algorithm>
#include <string>

#include "model/files/error.h"

namespace headscope::app {

ParameterRows parameter_rows(const model::Transformer& transformer, std::string_view name, int first,
                             int count) {
  const auto& all = transformer.parameters();
  const auto found = std::ranges::find(all, name, &model::Parameter::name);
  if (found == all.end()) throw model::RunError("the model has no parameter " + std::string(name));
  ParameterRows result;
  result.cols = static_cast<int>(found->shape.back());
  result.rows = count >= 0 ? count : found->shape.size() == 1 ? 1 : static_cast<int>(found->shape[0]);
  result.values.resize(std::ptrdiff_t{result.rows} * result.cols);
  transformer.parameter_rows(static_cast<std::size_t>(found - all.begin()), first, result.rows,
                             result.values);
  return result;
}

ParameterRows zeros(int rows, int cols) {
  return {std::vector<float>(std::ptrdiff_t{rows} * cols), rows, cols};
}

ParameterRows transposed(const ParameterRows& x) {
  ParameterRows result = zeros(x.cols, x.rows);
  for (int i = 0; i < x.rows; ++i)
    for (int j = 0; j < x.cols; ++j) result.row(j)[i] = x.row(i)[j];
  return result;
}

ParameterRows unembedding_rows(const model::Transformer& transformer, int first, int count) {
  const bool tied = transformer.config().tie_word_embeddings;
  return parameter_rows(transformer, tied ? "wte.weight" : "lm_head.weight", first, count);
}

}  // namespace headscope::app
