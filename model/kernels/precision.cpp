#include "model/kernels/precision.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>

namespace headscope::model {
namespace {

/// Calls visit with a number of the type that a precision names.
template <class Visit>
auto with_type(Precision precision, const Visit& visit) {
  switch (precision) {
    case Precision::f16:
      return visit(Eigen::half());
    case Precision::bf16:
      return visit(Eigen::bfloat16());
    case Precision::f32:
      break;
  }
  return visit(float());
}

template <class From, class To>
void convert_elements(const void* from, std::size_t n, void* to) {
  const auto count = static_cast<Eigen::Index>(n);
  const Eigen::Map<const Eigen::Array<From, Eigen::Dynamic, 1>> source(static_cast<const From*>(from), count);
  Eigen::Map<Eigen::Array<To, Eigen::Dynamic, 1>>(static_cast<To*>(to), count) =
      source.template cast<float>().template cast<To>();
}

}  // namespace

void convert(Precision from_precision, const void* from, std::size_t n, Precision to_precision, void* to) {
  if (from_precision == to_precision) {
    std::memcpy(to, from, n * element_bytes(to_precision));
    return;
  }
  with_type(from_precision, [&]<class From>(From) {
    with_type(to_precision, [&]<class To>(To) { convert_elements<From, To>(from, n, to); });
  });
}

bool exceeds_half(Precision precision, const void* values, std::size_t n) {
  constexpr float kRoundsToInfinity = 65520.0F;  // half way from the largest float16 to 2^16
  return with_type(precision, [&]<class From>(From) {
    return std::any_of(static_cast<const From*>(values), static_cast<const From*>(values) + n,
                       [](From value) {
                         const float magnitude = std::abs(static_cast<float>(value));
                         return magnitude >= kRoundsToInfinity && std::isfinite(magnitude);
                       });
  });
}

}  // namespace headscope::model
