#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "model/kernels/precision.h"

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

/// A row of a table of names for files and the command line. Other tables whose rows have `name` and `value`
/// can be searched the same way.
template <class Value>
struct Named {
  std::string_view name;
  Value value;
};

/// The name in files; empty if the table does not have the value.
template <class Row, std::size_t kCount, class Value>
constexpr std::string_view name_of(const Row (&all)[kCount], const Value& value) {
  for (const Row& row : all)
    if (row.value == value) return row.name;
  return {};
}

/// Names of precisions in files and on the command line.
inline constexpr Named<model::Precision> kPrecisionNames[]{
    {"f32", model::Precision::f32}, {"f16", model::Precision::f16}, {"bf16", model::Precision::bf16}};

constexpr std::string_view name_of(model::Precision precision) {
  return name_of(kPrecisionNames, precision);
}

}  // namespace headscope::app
