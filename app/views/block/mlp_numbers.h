#pragma once
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/run/analyses/token_pass.h"
#include "viz/charts/function_plot.h"
#include "viz/scene/scale.h"

// The numbers of an MLP at one position, as shown.
namespace headscope::app::mlp {

enum Vector { kInput, kBefore, kAfter, kOutput };
constexpr std::size_t kVectors = 4;

struct Numbers {
  std::shared_ptr<const BlockPass> block;
  std::array<std::span<const float>, kVectors> vectors;
  std::array<viz::ColorScale, kVectors> scales;
  std::vector<int> order;  ///< the strongest neurons, by descending magnitude of their output
};

/// `listed`: how many neurons to list, at most all; those of output 0 are left out, but for the first.
Numbers numbers_of(std::shared_ptr<const BlockPass> block, int listed);
float value_of(const Numbers& numbers, Vector vector, int neuron);

/// "GELU", as the configuration has it.
std::string activation_name(const model::Config& config);

viz::PlotPoint point_of(const Numbers& numbers, int neuron);
/// The curve of the nonlinearity with all neurons on it, and dots for those in `shown`, indices into the
/// order.
viz::FunctionPlot plot_of(const model::Config& config, const Numbers& numbers, std::span<const int> shown,
                          const viz::Theme& theme);

}  // namespace headscope::app::mlp
