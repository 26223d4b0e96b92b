#include "tests/bench/products.h"

#include <Eigen/Core>
#include <algorithm>
#include <random>

#include "model/kernels/eigen_maps.h"
#include "model/kernels/product.h"

namespace headscope::bench {
Operands::Operands(const ProductShape& shape) : bias_(some_activations(static_cast<std::size_t>(shape.out))) {
  const auto rows = static_cast<std::size_t>(shape.rows);
  const std::vector<float> x = some_activations(rows * static_cast<std::size_t>(shape.in));
  const std::size_t results = rows * static_cast<std::size_t>(shape.out);
  float* memory = memory_.reserve(x.size() + results);
  x_ = {memory, shape.rows, shape.in, shape.in};
  y_ = {memory + x.size(), shape.rows, shape.out, shape.out};
  std::ranges::copy(x, x_.data);
  std::fill_n(y_.data, results, 0.0F);
}

void own_product(const Operands& operands, const model::PanelMatrix& w, const ProductShape& shape,
                 model::Workers& workers) {
  if (shape.transposed) {
    model::product_with_columns(operands.x(), w, 0, workers, operands.y());
  } else {
    model::linear(operands.x(), {w, operands.bias()}, workers, operands.y());
  }
}

void eigen_product(model::ConstFloatRows x, const float* weights, const ProductShape& shape,
                   model::Workers& workers, model::FloatRows y) {
  using model::map;
  const int width = x.rows == 1 ? 384 : 192;  // the fastest of those tried
  workers.parallel_for((shape.out + width - 1) / width, [&](int block, float*) {
    const int col = block * width, cols = std::min(width, shape.out - col);
    if (shape.transposed) {
      const model::ConstFloatRows w{weights, shape.out, shape.in, shape.in};
      map(y.middle_cols(col, cols)).noalias() = map(x) * map(w.middle_rows(col, cols)).transpose();
    } else {
      const model::ConstFloatRows w{weights, shape.in, shape.out, shape.out};
      map(y.middle_cols(col, cols)).noalias() = map(x) * map(w.middle_cols(col, cols));
    }
  });
}

std::vector<float> some_activations(std::size_t size) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(size);
  std::ranges::generate(values, [&] { return uniform(generator); });
  return values;
}

}  // namespace headscope::bench
