#pragma once
#include <Eigen/Core>

/// Eigen's decompositions, which take longest to compile: in one file.
namespace headscope::model {

struct SymmetricEigen {
  Eigen::VectorXd values;   ///< [n], rising
  Eigen::MatrixXd vectors;  ///< [n, n], one a column
};
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& symmetric);

Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& square);

}  // namespace headscope::model
