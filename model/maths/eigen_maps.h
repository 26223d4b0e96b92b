#pragma once
#include <Eigen/Core>
#include <type_traits>

#include "model/kernels/view.h"

namespace headscope::model {

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Doubles = RowMajor<double>;

/// A view as a matrix of Eigen. Its products round otherwise than those of the kernels.
template <class T>
auto map(Rows<T> x) {
  using Matrix = RowMajor<std::remove_const_t<T>>;
  using MaybeConst = std::conditional_t<std::is_const_v<T>, const Matrix, Matrix>;
  using Stride = Eigen::OuterStride<>;
  return Eigen::Map<MaybeConst, Eigen::Unaligned, Stride>(x.data, x.rows, x.cols, Stride(x.stride));
}

}  // namespace headscope::model
