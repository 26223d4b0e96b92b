#pragma once
#include <Eigen/Core>

/// Eigen's decompositions, in one file because they take longest to compile.
namespace headscope::model {

struct SymmetricEigen {
  Eigen::VectorXd values;   ///< [n], ascending
  Eigen::MatrixXd vectors;  ///< [n, n], one per column
};
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& symmetric);

Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& square);  ///< [n], in no order

/// The x that minimizes |a x - right|^2 + ridge |x|^2, by an orthogonal decomposition: its rounding errors
/// are those of a, not of a's square.
Eigen::MatrixXd least_squares(const Eigen::MatrixXd& a, const Eigen::MatrixXd& right, double ridge);

}  // namespace headscope::model
