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

}  // namespace headscope::model
