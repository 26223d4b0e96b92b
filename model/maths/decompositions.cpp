#include "model/maths/decompositions.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "model/files/error.h"
#include "model/kernels/eigen_maps.h"
#include "model/maths/products.h"

namespace headscope::model {
namespace {

using Doubles = RowMajor<double>;

void throw_if_stopped(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Stopped();
}

Doubles doubles(ConstFloatRows x) {
  return map(x).cast<double>();
}

/// a a^T in blocks, checking for a stop between them.
Doubles gram_of(const Doubles& a, const std::stop_token& stop) {
  constexpr Eigen::Index kBlock = 128;
  Doubles out(a.rows(), a.rows());
  for (Eigen::Index first = 0; first < a.rows(); first += kBlock) {
    throw_if_stopped(stop);
    const Eigen::Index rows = std::min(kBlock, a.rows() - first);
    out.middleRows(first, rows).noalias() = a.middleRows(first, rows) * a.transpose();
  }
  return out;
}

}  // namespace

std::vector<float> cosines(ConstFloatRows x, Workspace& workspace) {
  const int n = x.rows;
  std::vector<float> unit(static_cast<std::size_t>(n) * x.cols);
  for (int i = 0; i < n; ++i) {
    double squares = 0;
    for (const float v : x.row(i)) squares += static_cast<double>(v) * static_cast<double>(v);
    const double norm = std::sqrt(squares);
    std::ranges::transform(x.row(i), unit.begin() + std::ptrdiff_t{i} * x.cols,
                           [&](float v) { return static_cast<float>(static_cast<double>(v) / norm); });
  }
  const ConstFloatRows rows{unit.data(), n, x.cols, x.cols};
  const RowMajor<float> columns = map(rows).transpose();
  std::vector<float> out(static_cast<std::size_t>(n) * n);
  multiply(rows, {columns.data(), x.cols, n, n}, workspace, {out.data(), n, n, n});
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
  const Doubles gram = gram_of(across, stop);
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

struct LowRankProduct::Impl {
  RowMajor<float> left, right;
  Eigen::MatrixXd product;  // B^T A for the rows added so far
};

LowRankProduct::LowRankProduct(ConstFloatRows left, ConstFloatRows right)
    : impl_(
          std::make_unique<Impl>(Impl{map(left), map(right), Eigen::MatrixXd::Zero(right.cols, left.cols)})) {
}

LowRankProduct::~LowRankProduct() = default;

void LowRankProduct::add(ConstFloatRows x, ConstFloatRows y) {
  const RowMajor<float> a = map(x) * impl_->left, b = map(y) * impl_->right;
  const RowMajor<float> part = b.transpose() * a;
  impl_->product += part.cast<double>();
}

std::vector<std::complex<double>> LowRankProduct::eigenvalues() const {
  const auto k = static_cast<std::size_t>(impl_->product.rows());
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (!impl_->product.allFinite()) return std::vector<std::complex<double>>(k, kNone);
  const Eigen::VectorXcd values = impl_->product.eigenvalues();
  std::vector<std::complex<double>> sorted(values.begin(), values.end());
  std::ranges::stable_sort(sorted, std::ranges::greater(),
                           [](std::complex<double> v) { return std::abs(v); });
  return sorted;
}

}  // namespace headscope::model
