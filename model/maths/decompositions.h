#pragma once
#include <complex>
#include <span>
#include <stop_token>
#include <vector>

#include "model/kernels/view.h"
#include "model/kernels/workspace.h"

/// The geometry of a matrix's rows as vectors, and eigenvalues. Eigen's decompositions are in one file
/// because they take longest to compile.
namespace headscope::model {

/// [n, n]: the cosine between rows i and j of x [n, d], clamped to [-1, 1]; NaN for a row of zeros.
std::vector<float> cosines(ConstFloatRows x, Workspace& workspace);

/// The directions of largest variance of rows (principal components), in descending order.
struct PrincipalDirections {
  int count = 0;                   ///< the requested count, limited by the number of rows and columns
  std::vector<float> directions;   ///< [count, d], of length 1; the component of largest magnitude positive
  std::vector<float> coordinates;  ///< [n, count], of the rows without their mean
  std::vector<double> shares;      ///< [count], of the total variance; 0 if that is 0
};
/// Throws Stopped.
PrincipalDirections principal_directions(ConstFloatRows x, int count, const std::stop_token& stop);

/// The map T [d, d], row-major, that minimizes the sum of squared distances between from[i] T and to[i], plus
/// 1e-11 of the mean square of `from` times T's: if many maps do, as with fewer rows than columns, it is
/// nearly the smallest. In double precision: applied again and again, a map amplifies what its rounding
/// misses. Throws Stopped.
std::vector<double> best_linear_map(ConstFloatRows from, ConstFloatRows to, const std::stop_token& stop);

/// mapped [n, d] = rows [n, d] times map [d, d].
void map_rows(std::span<const double> rows, std::span<const double> map, int d, std::span<double> mapped);

/// The eigenvalues of a matrix [n, n] of rank k < n: A B^T with A = X left and B = Y right, both [n, k],
/// where rows of X and Y are added a few at a time. They are those of B^T A, [k, k]; the other n - k are 0.
class LowRankProduct {
 public:
  LowRankProduct(ConstFloatRows left, ConstFloatRows right);  ///< [d, k] each, which must outlive it
  void add(ConstFloatRows x, ConstFloatRows y);               ///< corresponding rows of X and Y, [m, d] each
  /// [k], in descending order of magnitude; NaN if the product is not finite.
  std::vector<std::complex<double>> eigenvalues() const;

 private:
  ConstFloatRows left_, right_;
  std::vector<double> product_;  // B^T A of the rows added so far, [k, k]
};

}  // namespace headscope::model
