#pragma once
#include <span>
#include <vector>

#include "model/kernels/panel_matrix.h"
#include "model/kernels/view.h"
#include "model/kernels/workspace.h"

/// The matrix products of a pass: the program's own, and Eigen's in float32 to compare with.
namespace headscope::bench {

/// y [rows, out] = x [rows, in] * W [in, out].
struct ProductShape {
  int rows = 0, in = 0, out = 0;
  bool transposed = false;  ///< Eigen gets W as [out, in], like the unembedding in a model's files

  double flops() const { return 2.0 * rows * in * out; }
  std::size_t values() const { return static_cast<std::size_t>(in) * static_cast<std::size_t>(out); }
};

/// x [rows, in] and y [rows, out] in the memory layout of a pass; x and bias [out] hold arbitrary numbers.
class Operands {
 public:
  explicit Operands(const ProductShape& shape);

  model::ConstFloatRows x() const { return x_; }
  model::FloatRows y() const { return y_; }
  std::span<const float> bias() const { return bias_; }

 private:
  model::Buffer memory_;
  model::FloatRows x_, y_;
  std::vector<float> bias_;
};

/// Our own product as in a pass: with bias in a block, without in the unembedding.
void own_product(const Operands& operands, const model::PanelMatrix& w, const ProductShape& shape,
                 model::Workers& workers);

/// Eigen's product with the columns divided among the threads by hand, which is faster than Eigen's own
/// division.
void eigen_product(model::ConstFloatRows x, const float* weights, const ProductShape& shape,
                   model::Workers& workers, model::FloatRows y);

/// `size` reproducible numbers in [-1, 1).
std::vector<float> some_activations(std::size_t size);

}  // namespace headscope::bench
