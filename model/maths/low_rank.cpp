#include "model/maths/low_rank.h"

#include <algorithm>
#include <limits>

#include "model/kernels/eigen_maps.h"
#include "model/maths/decompositions.h"

namespace headscope::model {

struct LowRankProduct::Impl {
  RowMajor<float> left, right;
  Eigen::MatrixXd product;  // B^T A for the rows added so far
};

LowRankProduct::LowRankProduct(ConstFloatRows left, ConstFloatRows right)
    : impl_(
          std::make_unique<Impl>(Impl{map(left), map(right), Eigen::MatrixXd::Zero(right.cols, left.cols)})) {
}

LowRankProduct::~LowRankProduct() = default;

void LowRankProduct::add(ConstFloatRows x, ConstFloatRows y) {
  const RowMajor<float> a = map(x) * impl_->left, b = map(y) * impl_->right;
  const RowMajor<float> part = b.transpose() * a;
  impl_->product += part.cast<double>();
}

std::vector<std::complex<double>> LowRankProduct::eigenvalues() const {
  const auto k = static_cast<std::size_t>(impl_->product.rows());
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (!impl_->product.allFinite()) return std::vector<std::complex<double>>(k, kNone);
  const Eigen::VectorXcd values = model::eigenvalues(impl_->product);
  std::vector<std::complex<double>> sorted(values.begin(), values.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(),
                           [](std::complex<double> v) { return std::abs(v); });
  return sorted;
}

}  // namespace headscope::model
