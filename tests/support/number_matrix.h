#pragma once
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "model/kernels/precision.h"
#include "model/kernels/view.h"
#include "tests/support/guarded_memory.h"

namespace headscope::testing {

/// A number in another precision, rounded by Eigen.
inline float rounded(float value, model::Precision precision) {
  if (precision == model::Precision::f16) return static_cast<float>(Eigen::half(value));
  if (precision == model::Precision::bf16) return static_cast<float>(Eigen::bfloat16(value));
  return value;
}

/// A matrix of normal numbers [rows, cols] in some precision, at the end of its memory; there are `gap` other
/// numbers between rows. operator() returns the exact numbers it holds.
class NumberMatrix {
 public:
  NumberMatrix(int rows, int cols, model::Precision precision, std::mt19937& generator, int gap = 0)
      : rows_(rows), cols_(cols), stride_(cols + gap), values_(random_values(rows, cols, gap, generator)) {
    if (precision == model::Precision::f32) {
      floats_.emplace(values_);
      return;
    }
    std::vector<std::uint16_t> bits;
    for (float& value : values_) {
      bits.push_back(precision == model::Precision::f16
                         ? Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(value))
                         : Eigen::numext::bit_cast<std::uint16_t>(Eigen::bfloat16(value)));
      value = rounded(value, precision);
    }
    halves_.emplace(bits);
  }

  float operator()(int row, int col) const {
    return values_[static_cast<std::size_t>(row) * static_cast<std::size_t>(stride_) +
                   static_cast<std::size_t>(col)];
  }
  const void* data() const { return floats_ ? static_cast<const void*>(floats_->data()) : halves_->data(); }
  const float* floats() const { return floats_->data(); }
  model::ConstFloatRows view() const { return {floats(), rows_, cols_, stride_}; }
  int stride() const { return stride_; }

 private:
  static std::vector<float> random_values(int rows, int cols, int gap, std::mt19937& generator) {
    const auto stride = static_cast<std::size_t>(cols + gap);
    std::vector<float> values(static_cast<std::size_t>(rows) * stride - static_cast<std::size_t>(gap));
    std::normal_distribution<float> normal;
    for (float& value : values) value = normal(generator);
    return values;
  }

  int rows_, cols_, stride_;
  std::vector<float> values_;
  std::optional<GuardedMemory<float>> floats_;
  std::optional<GuardedMemory<std::uint16_t>> halves_;
};

/// The destination of a product, surrounded by numbers that must not change.
class Surrounded {
 public:
  static constexpr float kUntouched = 99.0F;

  Surrounded(int rows, int cols, int gap = 3)
      : rows_(rows),
        cols_(cols),
        stride_(cols + gap),
        values_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride_), kUntouched) {}

  model::FloatRows view() { return {values_.data(), rows_, cols_, stride_}; }
  float* data() { return values_.data(); }
  int stride() const { return stride_; }
  float operator()(int row, int col) const {
    return values_[static_cast<std::size_t>(row) * static_cast<std::size_t>(stride_) +
                   static_cast<std::size_t>(col)];
  }
  bool surroundings_untouched() const {
    for (int row = 0; row < rows_; ++row) {
      for (int col = cols_; col < stride_; ++col) {
        if ((*this)(row, col) != kUntouched) return false;
      }
    }
    return true;
  }
  const std::vector<float>& values() const { return values_; }

 private:
  int rows_, cols_, stride_;
  std::vector<float> values_;
};

/// A sum in double, and the sum of its terms' magnitudes.
struct DoubleSum {
  double sum = 0, magnitude = 0;

  void add(double term) {
    sum += term;
    magnitude += term < 0 ? -term : term;
  }
  /// The maximum error of a sum of `terms` floats, added in any order.
  double tolerance(int terms) const { return 6e-8 * magnitude * (terms + 1); }
};

}  // namespace headscope::testing
