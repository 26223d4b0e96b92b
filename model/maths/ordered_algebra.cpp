#include "model/maths/ordered_algebra.h"

#include <algorithm>
#include <cmath>

#include "model/files/error.h"

namespace headscope::model {
namespace {

using Doubles = RowMajor<double>;
using Eigen::Index;

constexpr Index kStripe = 128;  // columns at a time, so that what is read again stays in the cache

void throw_if_stopped(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Stopped();
}

/// Numbers that lie apart in memory.
struct Factors {
  const double* first;
  Index stride;
  double operator[](Index k) const { return first[k * stride]; }
};

/// out[j] -= factors[k] rows[k][j] for each k in turn.
void subtract_rows(double* out, Index width, const double* rows, Index stride, Factors factors, Index count) {
  Index k = 0;
  for (; k + 4 <= count; k += 4) {  // four at a time: `out` is read and written once
    const double *a = rows + k * stride, *b = a + stride, *c = b + stride, *d = c + stride;
    const double fa = factors[k], fb = factors[k + 1], fc = factors[k + 2], fd = factors[k + 3];
    for (Index j = 0; j < width; ++j) out[j] = (((out[j] - fa * a[j]) - fb * b[j]) - fc * c[j]) - fd * d[j];
  }
  for (; k < count; ++k) {
    const double* const row = rows + k * stride;
    const double factor = factors[k];
    for (Index j = 0; j < width; ++j) out[j] -= factor * row[j];
  }
}

}  // namespace

Doubles transposed_product(const Doubles& a, const Doubles& b, const std::stop_token& stop) {
  Doubles out = Doubles::Zero(a.cols(), b.cols());
  for (Index col = 0; col < b.cols(); col += kStripe) {
    throw_if_stopped(stop);
    const Index width = std::min(kStripe, b.cols() - col);
    for (Index i = 0; i < a.cols(); ++i)
      subtract_rows(&out(i, col), width, b.data() + col, b.cols(), {a.data() + i, a.cols()}, a.rows());
  }
  return -out;
}

Doubles solve_positive_definite(Doubles a, Doubles right, const std::stop_token& stop) {
  const Index n = a.rows();
  // a becomes U with U^T U = a, in and above its diagonal.
  for (Index i = 0; i < n; ++i) {
    throw_if_stopped(stop);
    subtract_rows(&a(i, i), n - i, a.data() + i, n, {a.data() + i, n}, i);
    const double root = std::sqrt(a(i, i));
    for (Index j = i; j < n; ++j) a(i, j) /= root;
  }
  const Index m = right.cols();
  for (Index col = 0; col < m; col += kStripe) {
    throw_if_stopped(stop);
    const Index width = std::min(kStripe, m - col);
    const auto divide = [&](Index i) {
      for (Index j = col; j < col + width; ++j) right(i, j) /= a(i, i);
    };
    for (Index i = 0; i < n; ++i) {  // U^T y = right
      subtract_rows(&right(i, col), width, right.data() + col, m, {a.data() + i, n}, i);
      divide(i);
    }
    for (Index i = n - 1; i >= 0; --i) {  // U x = y
      const Index after = n - i - 1;
      if (after > 0)
        subtract_rows(&right(i, col), width, right.data() + (i + 1) * m + col, m, {&a(i, i) + 1, 1}, after);
      divide(i);
    }
  }
  return right;
}

}  // namespace headscope::model
