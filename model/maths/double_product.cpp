#include "model/maths/double_product.h"

#include "model/kernels/eigen_maps.h"

namespace headscope::model {
namespace {

using Doubles = RowMajor<double>;
using Stride = Eigen::OuterStride<>;

auto map_doubles(DoubleRows x) {
  return Eigen::Map<Doubles, Eigen::Unaligned, Stride>(x.data, x.rows, x.cols, Stride(x.stride));
}
auto map_doubles(ConstDoubleRows x) {
  return Eigen::Map<const Doubles, Eigen::Unaligned, Stride>(x.data, x.rows, x.cols, Stride(x.stride));
}

}  // namespace

void multiply_by_transposed(ConstDoubleRows a, ConstFloatRows b, DoubleRows out) {
  const Doubles wide = map(b).cast<double>();
  map_doubles(out).noalias() = map_doubles(a) * wide.transpose();
}

void add_transposed_product(ConstFloatRows a, ConstDoubleRows b, DoubleRows out) {
  const Doubles wide = map(a).cast<double>();
  map_doubles(out).noalias() += wide.transpose() * map_doubles(b);
}

}  // namespace headscope::model
