#pragma once
#include "model/kernels/view.h"

/// Products in double precision of rows in double with activations and weights in float32, on the calling
/// thread.
namespace headscope::model {

using DoubleRows = Rows<double>;
using ConstDoubleRows = Rows<const double>;

/// out [n, m] = a [n, k] times the transpose of b [m, k].
void multiply_by_transposed(ConstDoubleRows a, ConstFloatRows b, DoubleRows out);

/// out [k, m] += the transpose of a [n, k] times b [n, m].
void add_transposed_product(ConstFloatRows a, ConstDoubleRows b, DoubleRows out);

}  // namespace headscope::model
