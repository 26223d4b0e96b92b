#pragma once

namespace headscope::app {

/// A neuron of a layer's MLP.
struct NeuronIndex {
  int layer = 0;
  int neuron = 0;
  bool operator==(const NeuronIndex&) const = default;
};

}  // namespace headscope::app
