#include "app/views/block/mlp_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "app/views/parts/strips.h"
#include "model/kernels/kernels.h"

namespace headscope::app::mlp {

Numbers numbers_of(std::shared_ptr<const BlockPass> block, int listed) {
  Numbers n;
  n.vectors = {block->ln_2, block->mlp_pre, block->mlp_post, block->mlp_out};
  for (std::size_t i = 0; i < kVectors; ++i) n.scales[i] = vector_scale(n.vectors[i]);
  const auto post = n.vectors[kAfter];
  n.order.resize(post.size());
  std::iota(n.order.begin(), n.order.end(), 0);
  const auto strength = [&](int neuron) {
    const float v = std::abs(post[neuron]);
    return std::isnan(v) ? std::numeric_limits<float>::infinity() : v;
  };
  const auto stronger = [&](int a, int b) { return std::pair(-strength(a), a) < std::pair(-strength(b), b); };
  std::ranges::partial_sort(n.order, n.order.begin() + listed, stronger);
  n.order.resize(listed);
  // Edits of some neurons leave all others as they were: those are not listed in the order of their numbers.
  while (n.order.size() > 1 && strength(n.order.back()) == 0) n.order.pop_back();
  n.block = std::move(block);
  return n;
}

float value_of(const Numbers& n, Vector vector, int neuron) {
  return n.vectors[vector][neuron];
}

std::string activation_name(const model::Config& config) {
  return std::string(model::function_of(config.activation).shown);
}

viz::PlotPoint point_of(const Numbers& n, int neuron) {
  return {static_cast<double>(value_of(n, kBefore, neuron)),
          static_cast<double>(value_of(n, kAfter, neuron))};
}

viz::FunctionPlot plot_of(const model::Config& config, const Numbers& n, std::span<const int> shown,
                          const viz::Theme& theme) {
  viz::FunctionPlot plot;
  const viz::ValueRange x = viz::value_range(viz::Matrix::row(n.vectors[kBefore])),
                        y = viz::value_range(viz::Matrix::row(n.vectors[kAfter]));
  const double margin_x = 0.04 * std::max(1e-6, static_cast<double>(x.high) - static_cast<double>(x.low));
  plot.x.low = std::min(-1.0, static_cast<double>(x.low) - margin_x);
  plot.x.high = std::max(1.0, static_cast<double>(x.high) + margin_x);
  constexpr int kCurvePoints = 200;
  std::vector<float> at(kCurvePoints + 1);
  for (int i = 0; i <= kCurvePoints; ++i)
    at[i] = static_cast<float>(plot.x.low + (plot.x.high - plot.x.low) * i / kCurvePoints);
  std::vector<float> of = at;
  model::activate(model::fastest_kernels().rows, config.activation, of);
  for (std::size_t i = 0; i < at.size(); ++i)
    plot.curve.push_back({static_cast<double>(at[i]), static_cast<double>(of[i])});
  const viz::ValueRange drawn = viz::united(y, viz::value_range(viz::Matrix::row(of)));
  const double margin_y = 0.05 * (static_cast<double>(drawn.high) - static_cast<double>(drawn.low));
  plot.y.low = static_cast<double>(drawn.low) - margin_y;
  plot.y.high = static_cast<double>(drawn.high) + margin_y;
  plot.curve_color = theme.text_muted;
  plot.dot_color = theme.bar;
  plot.point_color = theme.text_muted.with_alpha(150);
  for (int i = 0; i < std::ssize(n.vectors[kBefore]); ++i) plot.points.push_back(point_of(n, i));
  for (const int row : shown) plot.dots.push_back(point_of(n, n.order[row]));
  plot.x_title = "before";
  plot.y_title = activation_name(config) + ": after" + (shown.empty() ? "" : "; dots: listed");
  return plot;
}

}  // namespace headscope::app::mlp
