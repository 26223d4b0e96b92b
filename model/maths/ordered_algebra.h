#pragma once
#include <stop_token>

#include "model/kernels/eigen_maps.h"

/// Products and linear equations in double whose sums are made one term after another in the order of the
/// index, so that they are the same to the bit on every processor, with every compiler. For results that are
/// used again and again: a map that is applied a hundred times makes of another rounding another figure.
namespace headscope::model {

/// The transpose of a [k, n] times b [k, m]. Throws Stopped.
RowMajor<double> transposed_product(const RowMajor<double>& a, const RowMajor<double>& b,
                                    const std::stop_token& stop);

/// The x [n, m] with a x = right, where a [n, n] is symmetric and positive definite; by Cholesky's method.
/// Throws Stopped.
RowMajor<double> solve_positive_definite(RowMajor<double> a, RowMajor<double> right,
                                         const std::stop_token& stop);

}  // namespace headscope::model
