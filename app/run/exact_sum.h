#pragma once
#include <cstdint>
#include <utility>
#include <vector>

// Sums and means that do not depend on the order of the numbers, nor on how they were divided into parts.
namespace headscope::app {

/// A sum of numbers without any rounding: as numbers that do not overlap, whose exact sum it is (Shewchuk
/// 1997, "Adaptive precision floating-point arithmetic").
class ExactSum {
 public:
  /// Magnitudes up to this may be added and multiplied: what 2^31 of them add up to stays finite.
  static constexpr double kLargest = 1e120;

  void add(double number);
  void add_product(double a, double b);
  ExactSum& operator+=(const ExactSum& other);
  /// The sum, rounded once.
  double value() const;
  /// The sum as the fewest numbers: each is what is left after the previous ones, rounded once. Equal sums
  /// have equal parts.
  std::vector<double> parts() const;

 private:
  std::vector<double> parts_;  // from the smallest to the largest
};

/// The mean of numbers and its standard error, bit-identical for any order and any division into parts.
class SampleMean {
 public:
  SampleMean() = default;
  /// Of `count` numbers with this sum and sum of squares.
  SampleMean(std::int64_t count, ExactSum sum, ExactSum squares)
      : count_(count), sum_(std::move(sum)), squares_(std::move(squares)) {}

  /// Leaves out numbers that are not finite or beyond ExactSum::kLargest.
  void add(double number);
  SampleMean& operator+=(const SampleMean& other);
  std::int64_t count() const { return count_; }
  double mean() const;  ///< NaN: of no number
  /// The standard deviation of the sample over the square root of its count; NaN: of fewer than two numbers.
  double standard_error() const;
  const ExactSum& sum() const { return sum_; }
  const ExactSum& squares() const { return squares_; }

 private:
  std::int64_t count_ = 0;
  ExactSum sum_, squares_;
};

}  // namespace headscope::app
