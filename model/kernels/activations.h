#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace headscope::model {

/// The element-wise functions of transformers' table of activations (ACT2FN), under one of their names there.
enum class Activation {
  gelu_new,
  gelu,
  gelu_10,
  quick_gelu,
  relu,
  relu2,
  relu6,
  leaky_relu,
  silu,
  mish,
  tanh,
  sigmoid,
  laplace,
  linear,
};

/// A function and its derivative. Those of gelu_new and silu are written for vectors instead (see
/// RowKernels): null.
struct ActivationFunction {
  std::string_view name;   ///< as `activation_function` in config.json
  std::string_view shown;  ///< "GELU"
  float (*value)(float) = nullptr;
  float (*slope)(float) = nullptr;
};

const ActivationFunction& function_of(Activation activation);

/// The function with one of its names; nothing if transformers' table lacks the name, or has a layer with
/// weights of its own under it.
std::optional<Activation> activation_named(std::string_view name);

/// All of their names, for a message.
std::string activation_names();

}  // namespace headscope::model
