#pragma once
// Reverse-mode differentiation of any computation, one scalar at a time, in double precision.
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace headscope::testing {

/// The steps of a computation, each with the derivatives with respect to its operands.
class Tape {
 public:
  struct Operand {
    int node = -1;  ///< -1: a constant
    double derivative = 0;
  };

  int add(Operand a) { return add(a, {-1, 0}); }
  int add(Operand a, Operand b) {
    nodes_.push_back({a, b});
    return static_cast<int>(nodes_.size()) - 1;
  }

  /// The derivatives of one node with respect to all nodes.
  std::vector<double> gradient_of(int result) const {
    std::vector<double> gradient(nodes_.size());
    if (result < 0) return gradient;
    gradient[result] = 1;
    for (int node = result; node >= 0; --node)
      for (const Operand& operand : nodes_[node])
        if (operand.node >= 0) gradient[operand.node] += gradient[node] * operand.derivative;
    return gradient;
  }

 private:
  std::vector<std::array<Operand, 2>> nodes_;
};

/// A number of such a computation.
struct Taped {
  double value = 0;
  int node = -1;         ///< -1: a constant
  Tape* tape = nullptr;  ///< null: a constant

  static Taped of(double value, const Taped& a, double by_a) {
    if (a.tape == nullptr) return {value};
    return {value, a.tape->add({a.node, by_a}), a.tape};
  }
  static Taped of(double value, const Taped& a, double by_a, const Taped& b, double by_b) {
    if (b.tape == nullptr) return of(value, a, by_a);
    if (a.tape == nullptr) return of(value, b, by_b);
    return {value, a.tape->add({a.node, by_a}, {b.node, by_b}), a.tape};
  }
  /// The same value as a node of its own, whether it was constant or not.
  Taped marked(Tape& on) const { return {value, on.add({node, 1}), &on}; }
};

inline double value_of(const Taped& a) {
  return a.value;
}
inline Taped operator+(const Taped& a, const Taped& b) {
  return Taped::of(a.value + b.value, a, 1, b, 1);
}
inline Taped operator-(const Taped& a, const Taped& b) {
  return Taped::of(a.value - b.value, a, 1, b, -1);
}
inline Taped operator*(const Taped& a, const Taped& b) {
  return Taped::of(a.value * b.value, a, b.value, b, a.value);
}
inline Taped operator/(const Taped& a, const Taped& b) {
  return Taped::of(a.value / b.value, a, 1 / b.value, b, -a.value / (b.value * b.value));
}
inline Taped& operator+=(Taped& a, const Taped& b) {
  return a = a + b;
}
inline Taped exp(const Taped& a) {
  const double power = std::exp(a.value);
  return Taped::of(power, a, power);
}
inline Taped log(const Taped& a) {
  return Taped::of(std::log(a.value), a, 1 / a.value);
}
inline Taped sqrt(const Taped& a) {
  const double root = std::sqrt(a.value);
  return Taped::of(root, a, 1 / (2 * root));
}
inline Taped tanh(const Taped& a) {
  const double t = std::tanh(a.value);
  return Taped::of(t, a, 1 - t * t);
}
inline Taped erf(const Taped& a) {
  return Taped::of(std::erf(a.value), a, 2 * std::numbers::inv_sqrtpi * std::exp(-a.value * a.value));
}

}  // namespace headscope::testing
