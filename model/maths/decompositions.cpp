#include "model/maths/decompositions.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

namespace headscope::model {

SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& square) {
  return square.eigenvalues();
}

Eigen::MatrixXd solve_positive_definite(const Eigen::MatrixXd& a, const Eigen::MatrixXd& right) {
  return a.llt().solve(right);
}

}  // namespace headscope::model
