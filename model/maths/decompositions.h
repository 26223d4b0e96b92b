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

}  // namespace headscope::model
