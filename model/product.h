#pragma once
#include <cstddef>
#include <span>

#include "model/view.h"
#include "model/weights.h"
#include "model/workspace.h"

/// Products with the weights. Their work is cut into blocks of fixed size, so that results are the same to
/// the bit for any number of threads.
namespace headscope::model {

/// y [T, out] = x [T, in] * weight [in, out] + bias [out].
void linear(ConstFloatRows x, const LinearWeights& w, Workers& workers, FloatRows y);

/// y [T, n] = x [T, d] * (rows first .. first + n of w [vocab, d])^T, with n = y.cols.
void product_with_rows(ConstFloatRows x, const WeightMatrix& w, int first, Workers& workers, FloatRows y);

/// y [T, out] = x [T, n] * (rows first .. first + n of w [in, out]), with n = x.cols. Without bias, on the
/// calling thread; `scratch` is for widening.
void product_with_slice(ConstFloatRows x, const WeightMatrix& w, int first, Buffer& scratch, FloatRows y);

/// Floats of scratch for each thread that linear and product_with_rows take for matrices of that precision
/// with rows of `row_length`.
std::size_t product_scratch(Precision precision, int row_length);

/// out [cols] = row `row` of w, as float32.
void widen_row(const WeightMatrix& w, int row, std::span<float> out);

}  // namespace headscope::model
