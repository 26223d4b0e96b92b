#pragma once
#include <Eigen/Core>

#include "model/kernels/view.h"

namespace headscope::model {

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixMap = Eigen::Map<RowMajor<float>, Eigen::Unaligned, Eigen::OuterStride<>>;
using ConstMatrixMap = Eigen::Map<const RowMajor<float>, Eigen::Unaligned, Eigen::OuterStride<>>;

inline MatrixMap map(FloatRows x) {
  return {x.data, x.rows, x.cols, Eigen::OuterStride<>(x.stride)};
}
inline ConstMatrixMap map(ConstFloatRows x) {
  return {x.data, x.rows, x.cols, Eigen::OuterStride<>(x.stride)};
}

}  // namespace headscope::model
