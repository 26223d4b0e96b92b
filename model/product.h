#pragma once
#include <cstddef>
#include <span>

#include "model/panels.h"
#include "model/view.h"
#include "model/weights.h"
#include "model/workspace.h"

/// Products of activations with weights, shared out to threads by columns of the result. A cell comes out the
/// same to the bit for any number of threads.
namespace headscope::model {

/// y [T, out] = x [T, in] * weight [in, out] + bias [out].
void linear(ConstFloatRows x, const LinearWeights& w, Workers& workers, FloatRows y);

/// y [T, n] = x [T, d] * (rows first .. first + n of w [vocab, d])^T, with n = y.cols.
void product_with_rows(ConstFloatRows x, const WeightMatrix& w, int first, Workers& workers, FloatRows y);

/// y [T, out] = x [T, n] * (rows first .. first + n of w [in, out]), with n = x.cols. Without bias.
void product_with_slice(ConstFloatRows x, const WeightMatrix& w, int first, Workers& workers, FloatRows y);

/// y [T, n] = x [T, d] * w^T, w [n, d], on the calling thread. `scratch` holds as many rows of the transposed
/// w as there is room for, at least one.
void product_with_transposed(const PanelKernels& kernels, ConstFloatRows x, const Elements& w,
                             std::span<float> scratch, FloatRows y);

/// Floats of scratch that any of these takes on a thread.
std::size_t product_scratch();

/// out [cols] = row `row` of w, as float32.
void widen_row(const PanelKernels& kernels, const WeightMatrix& w, int row, std::span<float> out);

}  // namespace headscope::model
