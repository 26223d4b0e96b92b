#pragma once
#include <string>

// Names of places in the model.
namespace headscope::app {

/// "L5 H1"
inline std::string head_name(int layer, int head) {
  return "L" + std::to_string(layer) + " H" + std::to_string(head);
}
/// "L5 neuron 17"
inline std::string neuron_name(int layer, int neuron) {
  return "L" + std::to_string(layer) + " neuron " + std::to_string(neuron);
}

}  // namespace headscope::app
