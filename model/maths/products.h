#pragma once
#include <stop_token>
#include <vector>

#include "model/kernels/view.h"
#include "model/kernels/workspace.h"

/// Products of matrices other than the weights of a pass.
namespace headscope::model {

/// out [n, m] = a [n, k] b [k, m]. The result does not depend on the number of threads.
void multiply(ConstFloatRows a, ConstFloatRows b, Workspace& workspace, FloatRows out);

using DoubleRows = Rows<double>;
using ConstDoubleRows = Rows<const double>;

/// out [n, m] = a [n, k] times the transpose of b [m, k], on the calling thread.
void multiply_by_transposed(ConstDoubleRows a, ConstFloatRows b, DoubleRows out);

/// out [k, m] += the transpose of a [n, k] times b [n, m], on the calling thread.
void add_transposed_product(ConstFloatRows a, ConstDoubleRows b, DoubleRows out);

/// out [d, d] = a [d, n] times its transpose; summed in double.
std::vector<double> gram(ConstFloatRows a);

/// An entry of a b^T.
struct ProductEntry {
  int row = 0;
  int col = 0;
  float value = 0;
};

/// The `most` largest entries of a [n, k] times the transpose of b [m, k], in descending order, ties by the
/// first row and column. Holds no more of the product than a tile, and skips parts that cannot be among the
/// largest according to the rows' norms. NaN is left out. Throws Stopped.
std::vector<ProductEntry> largest_entries(ConstFloatRows a, ConstFloatRows b, int most, Workspace& workspace,
                                          const std::stop_token& stop = {});

}  // namespace headscope::model
