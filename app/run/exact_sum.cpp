#include "app/run/exact_sum.h"

#include <cmath>
#include <limits>

namespace headscope::app {

void ExactSum::add(double number) {
  std::size_t kept = 0;
  for (const double part : parts_) {
    const bool larger = std::abs(number) >= std::abs(part);
    const double large = larger ? number : part, small = larger ? part : number;
    number = large + small;
    const double lost = small - (number - large);  // exact, since |small| <= |large|
    if (lost != 0) parts_[kept++] = lost;
  }
  parts_.resize(kept);
  if (number != 0) parts_.push_back(number);
}

void ExactSum::add_product(double a, double b) {
  const double product = a * b;
  add(product);
  add(std::fma(a, b, -product));  // what rounding the product lost
}

ExactSum& ExactSum::operator+=(const ExactSum& other) {
  for (const double part : other.parts()) add(part);
  return *this;
}

double ExactSum::value() const {
  double sum = 0, lost = 0;
  std::size_t left = parts_.size();
  while (left > 0 && lost == 0) {
    const double before = sum, part = parts_[--left];
    sum = before + part;
    lost = part - (sum - before);
  }
  // If what was lost is half of the last place, the parts that are left say to which side to round.
  if (left > 0 && ((lost < 0 && parts_[left - 1] < 0) || (lost > 0 && parts_[left - 1] > 0))) {
    const double twice = 2 * lost, other = sum + twice;
    if (other - sum == twice) sum = other;
  }
  return sum;
}

std::vector<double> ExactSum::parts() const {
  std::vector<double> parts;
  ExactSum rest = *this;
  for (double part = rest.value(); part != 0; part = rest.value()) {
    parts.push_back(part);
    rest.add(-part);
  }
  return parts;
}

void SampleMean::add(double number) {
  if (!(std::abs(number) <= ExactSum::kLargest)) return;  // also NaN
  ++count_;
  sum_.add(number);
  squares_.add_product(number, number);
}

SampleMean& SampleMean::operator+=(const SampleMean& other) {
  count_ += other.count_;
  sum_ += other.sum_;
  squares_ += other.squares_;
  return *this;
}

double SampleMean::mean() const {
  if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
  return sum_.value() / static_cast<double>(count_);
}

double SampleMean::standard_error() const {
  if (count_ < 2) return std::numeric_limits<double>::quiet_NaN();
  // n^2 (n - 1) times the squared error is n sum(x^2) - sum(x)^2, which has no rounding either: a small
  // spread around a large mean is not lost.
  const auto n = static_cast<double>(count_);
  ExactSum spread;
  for (const double part : squares_.parts()) spread.add_product(n, part);
  const std::vector<double> sums = sum_.parts();
  for (const double a : sums)
    for (const double b : sums) spread.add_product(-a, b);
  const double of_all = spread.value();  // negative only for sums that belong to no numbers
  if (of_all < 0) return std::numeric_limits<double>::quiet_NaN();
  return std::sqrt(of_all / (n * n * (n - 1)));
}

}  // namespace headscope::app
