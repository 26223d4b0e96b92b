#include "model/maths/decompositions.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "model/files/error.h"
#include "model/maths/eigen_maps.h"
#include "model/maths/products.h"

namespace headscope::model {
namespace {

void throw_if_stopped(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Stopped();
}

Doubles doubles(ConstFloatRows x) {
  return map(x).cast<double>();
}

}  // namespace

std::vector<float> cosines(ConstFloatRows x, Workspace& workspace) {
  const int n = x.rows;
  const Doubles rows = doubles(x);
  const RowMajor<float> unit = (rows.array().colwise() / rows.rowwise().norm().array()).cast<float>();
  const RowMajor<float> columns = unit.transpose();
  std::vector<float> out(static_cast<std::size_t>(n) * n);
  multiply({unit.data(), n, x.cols, x.cols}, {columns.data(), x.cols, n, n}, workspace,
           {out.data(), n, n, n});
  for (float& v : out) v = std::isnan(v) ? v : std::clamp(v, -1.F, 1.F);
  return out;
}

PrincipalDirections principal_directions(ConstFloatRows x, int count, const std::stop_token& stop) {
  Doubles rows = doubles(x);
  rows.rowwise() -= rows.colwise().mean().eval();
  PrincipalDirections result;
  result.count = std::min({count, x.rows, x.cols});
  const bool wide = x.cols > x.rows;
  // The smaller of the two products has the same eigenvalues.
  const Doubles across = wide ? rows : Doubles(rows.transpose());
  throw_if_stopped(stop);
  const Doubles gram = across * across.transpose();
  throw_if_stopped(stop);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(gram);
  throw_if_stopped(stop);
  const double all = rows.squaredNorm();
  const Eigen::Index size = gram.rows();
  Doubles directions(result.count, rows.cols());
  for (int i = 0; i < result.count; ++i) {
    const Eigen::VectorXd vector = eigen.eigenvectors().col(size - 1 - i);
    Eigen::VectorXd direction = wide ? Eigen::VectorXd(rows.transpose() * vector) : vector;
    const double norm = direction.norm();
    if (norm > 0) direction /= norm;
    Eigen::Index strongest = 0;
    direction.cwiseAbs().maxCoeff(&strongest);
    if (direction[strongest] < 0) direction = -direction;
    directions.row(i) = direction;
    const double variance = std::max(0.0, eigen.eigenvalues()[size - 1 - i]);
    result.shares.push_back(all > 0 ? variance / all : 0);
  }
  const RowMajor<float> coordinates = (rows * directions.transpose()).cast<float>();
  const RowMajor<float> found = directions.cast<float>();
  result.directions.assign(found.data(), found.data() + found.size());
  result.coordinates.assign(coordinates.data(), coordinates.data() + coordinates.size());
  return result;
}

std::vector<double> best_linear_map(ConstFloatRows from, ConstFloatRows to, const std::stop_token& stop) {
  throw_if_stopped(stop);
  const Eigen::Index rows = from.rows, cols = from.cols;
  const Doubles a = doubles(from);
  const double mean = a.squaredNorm() / std::min(from.rows, from.cols), ridge = mean > 0 ? 1e-11 * mean : 1;
  // The T that minimizes |a T - to|^2 + ridge |T|^2, by an orthogonal decomposition: its rounding errors are
  // those of a, not of a's square.
  Eigen::MatrixXd above(rows + cols, cols), target = Eigen::MatrixXd::Zero(rows + cols, to.cols);
  above << a, std::sqrt(ridge) * Eigen::MatrixXd::Identity(cols, cols);
  target.topRows(rows) = doubles(to);
  const Eigen::MatrixXd solved = above.householderQr().solve(target);
  const Doubles found = solved;
  return {found.data(), found.data() + found.size()};
}

void map_rows(std::span<const double> rows, std::span<const double> map, int d, std::span<double> mapped) {
  const auto count = static_cast<Eigen::Index>(rows.size()) / d;
  Eigen::Map<Doubles>(mapped.data(), count, d).noalias() =
      Eigen::Map<const Doubles>(rows.data(), count, d) * Eigen::Map<const Doubles>(map.data(), d, d);
}

LowRankProduct::LowRankProduct(ConstFloatRows left, ConstFloatRows right)
    : left_(left), right_(right), product_(static_cast<std::size_t>(left.cols) * right.cols) {}

void LowRankProduct::add(ConstFloatRows x, ConstFloatRows y) {
  const RowMajor<float> a = map(x) * map(left_), b = map(y) * map(right_);
  const RowMajor<float> part = b.transpose() * a;
  Eigen::Map<Doubles>(product_.data(), part.rows(), part.cols()) += part.cast<double>();
}

std::vector<std::complex<double>> LowRankProduct::eigenvalues() const {
  const Eigen::Map<const Doubles> product(product_.data(), right_.cols, left_.cols);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (!product.allFinite()) return std::vector<std::complex<double>>(product.rows(), kNone);
  const Eigen::VectorXcd values = Eigen::MatrixXd(product).eigenvalues();
  std::vector<std::complex<double>> sorted(values.begin(), values.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(),
                           [](std::complex<double> v) { return std::abs(v); });
  return sorted;
}

}  // namespace headscope::model
