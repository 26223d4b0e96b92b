#pragma once
#include <complex>
#include <memory>
#include <vector>

#include "model/kernels/view.h"

namespace headscope::model {

/// The eigenvalues of a matrix [n, n] of rank k < n: A B^T with A = X left and B = Y right, both [n, k],
/// where rows of X and Y are added a few at a time. They are those of B^T A, [k, k]; the other n - k are 0.
class LowRankProduct {
 public:
  LowRankProduct(ConstFloatRows left, ConstFloatRows right);  ///< [d, k] each
  ~LowRankProduct();
  LowRankProduct(const LowRankProduct&) = delete;
  LowRankProduct& operator=(const LowRankProduct&) = delete;

  void add(ConstFloatRows x, ConstFloatRows y);  ///< corresponding rows of X and Y, [m, d] each
  /// [k], in descending order of magnitude; NaN if the product is not finite.
  std::vector<std::complex<double>> eigenvalues() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headscope::model
