#include "model/kernels/activations.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace headscope::model {
namespace {

constexpr float kRootTwo = std::numbers::sqrt2_v<float>;
constexpr float kInverseRootTwoPi = std::numbers::inv_sqrtpi_v<float> / kRootTwo;

/// x within [-100, 100]; NaN stays NaN. Beyond, a derivative is that of a straight line in float32, and its
/// terms would overflow.
float limited(float x) {
  return std::clamp(x, -100.0F, 100.0F);
}

float gelu(float x) {
  return 0.5F * x * std::erfc(-x / kRootTwo);
}
float gelu_slope(float x) {
  x = limited(x);
  return 0.5F * std::erfc(-x / kRootTwo) + x * kInverseRootTwoPi * std::exp(-0.5F * x * x);
}

float sigmoid(float x) {
  return 1 / (1 + std::exp(-x));
}
float sigmoid_slope(float x) {
  return sigmoid(x) * sigmoid(-x);
}

constexpr float kQuick = 1.702F;
float quick_gelu(float x) {
  return x * sigmoid(kQuick * x);
}
float quick_gelu_slope(float x) {
  x = limited(x);
  return sigmoid(kQuick * x) + kQuick * x * sigmoid_slope(kQuick * x);
}

float relu(float x) {
  return x < 0 ? 0 : x;  // NaN stays NaN
}
float relu_slope(float x) {
  return x > 0 ? 1.0F : x <= 0 ? 0.0F : x;
}
constexpr float kLeak = 0.01F;

float softplus(float x) {
  constexpr float kStraight = 20;  // from where exp(-x) is lost beside x
  return x > kStraight ? x : std::log1p(std::exp(x));
}
float mish(float x) {
  return x * std::tanh(softplus(x));
}
float mish_slope(float x) {
  x = limited(x);
  const float y = std::tanh(softplus(x));
  return y + x * sigmoid(x) * (1 - y) * (1 + y);
}

float tanh_slope(float x) {
  const float y = std::tanh(x);
  return (1 - y) * (1 + y);
}

constexpr float kLaplaceMean = 0.707107F, kLaplaceDeviation = 0.282095F;
float laplace(float x) {
  return 0.5F * std::erfc(-(x - kLaplaceMean) / (kLaplaceDeviation * kRootTwo));
}
float laplace_slope(float x) {
  const float z = (x - kLaplaceMean) / kLaplaceDeviation;
  return kInverseRootTwoPi / kLaplaceDeviation * std::exp(-0.5F * z * z);
}

constexpr std::pair<Activation, ActivationFunction> kFunctions[] = {
    {Activation::gelu_new, {"gelu_new", "GELU"}},
    {Activation::gelu, {"gelu", "GELU", gelu, gelu_slope}},
    // Clipped to [-10, 10], of which it reaches only the upper end.
    {Activation::gelu_10,
     {"gelu_10", "GELU up to 10", [](float x) { return std::min(gelu(x), 10.0F); },
      [](float x) { return gelu(x) > 10 ? 0 : gelu_slope(x); }}},
    {Activation::quick_gelu, {"quick_gelu", "quick GELU", quick_gelu, quick_gelu_slope}},
    {Activation::relu, {"relu", "ReLU", relu, relu_slope}},
    {Activation::relu2,
     {"relu2", "squared ReLU", [](float x) { return relu(x) * relu(x); },
      [](float x) { return 2 * relu(x); }}},
    {Activation::relu6,
     {"relu6", "ReLU6", [](float x) { return x > 6 ? 6 : relu(x); },
      [](float x) { return x >= 6 ? 0 : relu_slope(x); }}},
    {Activation::leaky_relu,
     {"leaky_relu", "leaky ReLU", [](float x) { return x < 0 ? kLeak * x : x; },
      [](float x) { return relu_slope(x) == 0 ? kLeak : relu_slope(x); }}},
    {Activation::silu, {"silu", "SiLU"}},
    {Activation::mish, {"mish", "Mish", mish, mish_slope}},
    {Activation::tanh, {"tanh", "tanh", [](float x) { return std::tanh(x); }, tanh_slope}},
    {Activation::sigmoid, {"sigmoid", "sigmoid", sigmoid, sigmoid_slope}},
    {Activation::laplace, {"laplace", "Laplace", laplace, laplace_slope}},
    {Activation::linear,
     {"linear", "identity", [](float x) { return x; }, [](float x) { return std::isnan(x) ? x : 1; }}},
};

/// Other names of the same formulas.
constexpr std::pair<std::string_view, Activation> kAliases[] = {
    {"gelu_fast", Activation::gelu_new},        {"gelu_pytorch_tanh", Activation::gelu_new},
    {"gelu_python_tanh", Activation::gelu_new}, {"gelu_accurate", Activation::gelu_new},
    {"gelu_python", Activation::gelu},          {"swish", Activation::silu},
};

}  // namespace

const ActivationFunction& function_of(Activation activation) {
  return std::ranges::find(kFunctions, activation, &std::pair<Activation, ActivationFunction>::first)->second;
}

std::optional<Activation> activation_named(std::string_view name) {
  for (const auto& [activation, function] : kFunctions)
    if (function.name == name) return activation;
  for (const auto& [alias, activation] : kAliases)
    if (alias == name) return activation;
  return std::nullopt;
}

std::string activation_names() {
  std::string names;
  for (const auto& [activation, function] : kFunctions) names += std::string(function.name) + ", ";
  for (const auto& [alias, activation] : kAliases) names += std::string(alias) + ", ";
  return names.substr(0, names.size() - 2);
}

}  // namespace headscope::model
