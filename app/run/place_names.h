#pragma once
#include <string>

// Places in the model, and their names.
namespace headscope::app {

/// A neuron of a layer's MLP.
struct NeuronIndex {
  int layer = 0;
  int neuron = 0;
  bool operator==(const NeuronIndex&) const = default;
};

/// "L5 H1"
inline std::string head_name(int layer, int head) {
  return "L" + std::to_string(layer) + " H" + std::to_string(head);
}
/// "L5 neuron 17"
inline std::string neuron_name(int layer, int neuron) {
  return "L" + std::to_string(layer) + " neuron " + std::to_string(neuron);
}

}  // namespace headscope::app
