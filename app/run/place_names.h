#pragma once
#include <string>

// Names of places in the model.
namespace headscope::app {

std::string head_name(int layer, int head);      ///< "L5 H1"
std::string neuron_name(int layer, int neuron);  ///< "L5 neuron 17"

}  // namespace headscope::app
