#include "model/maths/decompositions.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>

namespace headscope::model {

SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& square) {
  return square.eigenvalues();
}

Eigen::MatrixXd least_squares(const Eigen::MatrixXd& a, const Eigen::MatrixXd& right, double ridge) {
  const Eigen::Index rows = a.rows(), cols = a.cols();
  Eigen::MatrixXd above(rows + cols, cols), target = Eigen::MatrixXd::Zero(rows + cols, right.cols());
  above << a, std::sqrt(ridge) * Eigen::MatrixXd::Identity(cols, cols);
  target.topRows(rows) = right;
  return above.householderQr().solve(target);
}

}  // namespace headscope::model
