#pragma once
#include <optional>

#include "app/cli/commands/list_means.h"
#include "app/run/analyses/metric_choice.h"
#include "app/run/measured_metric.h"

namespace headscope::app {

/// The MLPs that are split by neuron.
struct NeuronArguments {
  std::optional<int> layer;
  bool all = false;        ///< those of every layer
  std::optional<int> top;  ///< the number of neurons in text; nothing: 20
  bool has(int of_layer) const { return all || layer == of_layer; }
};

/// The contribution of each part of the model to a logit.
struct AttributeCommand : Arguments, MeanArguments {
  MeasuredMetric<GradientMetric> measured;  ///< a logit or a difference
  std::optional<model::HeadIndex> sources;  ///< the head whose contribution is split by source token
  bool all_sources = false;                 ///< the same for every head
  NeuronArguments neurons;                  ///< the MLPs whose contributions are split by neuron
};

}  // namespace headscope::app
