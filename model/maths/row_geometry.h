#pragma once
#include <memory>
#include <stop_token>
#include <vector>

#include "model/kernels/view.h"
#include "model/pass/transformer.h"

/// Geometry of the rows of a matrix, taken as vectors.
namespace headscope::model {

/// [n, n]: the cosine between rows i and j of x [n, d], clamped to [-1, 1]; NaN for a row of zeros.
std::vector<float> cosines(ConstFloatRows x, Workspace& workspace);

/// The directions of largest variance of rows (principal components), in descending order.
struct PrincipalDirections {
  int count = 0;                   ///< as many as were asked for, or as there are rows or columns
  std::vector<float> directions;   ///< [count, d], of length 1; the component of largest magnitude positive
  std::vector<float> coordinates;  ///< [n, count], of the rows without their mean
  std::vector<double> shares;      ///< [count], of the whole variance; 0 where there is none
};
/// Throws Stopped.
PrincipalDirections principal_directions(ConstFloatRows x, int count, const std::stop_token& stop);

/// The map T [d, d], row-major, for which the rows from[i] T come nearest to to[i] by the sum of squares; of
/// many such maps, where there are fewer rows than columns, the smallest. In double precision. Throws
/// Stopped.
std::vector<float> best_linear_map(ConstFloatRows from, ConstFloatRows to, const std::stop_token& stop);

/// A linear map that is applied to rows many times.
class RowMap {
 public:
  /// `map` is [d, d], row-major.
  RowMap(const std::vector<float>& map, int d);
  ~RowMap();
  RowMap(const RowMap&) = delete;
  RowMap& operator=(const RowMap&) = delete;
  /// y [n, d] = x [n, d] T.
  void apply(ConstFloatRows x, Workspace& workspace, FloatRows y) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headscope::model
