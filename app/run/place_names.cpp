#include "app/run/place_names.h"

namespace headscope::app {

std::string head_name(int layer, int head) {
  return "L" + std::to_string(layer) + " H" + std::to_string(head);
}

std::string neuron_name(int layer, int neuron) {
  return "L" + std::to_string(layer) + " neuron " + std::to_string(neuron);
}

}  // namespace headscope::app
