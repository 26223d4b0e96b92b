#include "tests/bench/product_timing.h"

#include <algorithm>
#include <array>
#include <utility>

#include "app/cli/stopwatch.h"
#include "tests/bench/ratios.h"

namespace headscope::bench {
namespace {

/// The median time of our own product in seconds.
double measure_ours(const ProductShape& shape, model::Precision precision, model::Workers& workers,
                    RotatingWeights& weights) {
  const Operands operands(shape);
  const std::size_t bytes = model::panel_matrix_bytes(shape.in, shape.out, precision);
  return app::median_seconds([&] {
    own_product(operands, {weights.next(bytes), shape.in, shape.out, precision}, shape, workers);
  });
}

std::array<std::pair<const char*, ProductShape>, 5> products_of(const model::Config& config, int tokens) {
  const auto block = block_shapes(config, tokens);
  return {{{"attn.c_attn", block[0]},
           {"attn.c_proj", block[1]},
           {"mlp.c_fc", block[2]},
           {"mlp.c_proj", block[3]},
           {"unembedding", unembedding_shape(config, tokens)}}};
}

}  // namespace

std::size_t largest_matrix(const model::Config& config) {
  std::size_t largest = 0;
  for (const auto& [name, shape] : products_of(config, 1)) largest = std::max(largest, shape.values());
  return largest;
}

std::vector<ProductTiming> measure_products(app::Engine& engine, PeerProducts& peers) {
  model::Workers& workers = engine.workspace.impl().workers;
  const model::Precision precision = engine.model->transformer->precision();
  std::vector<ProductTiming> timings;
  for (const int tokens : {1, 16, 64, 256, 1024}) {
    if (tokens > engine.config().n_ctx) continue;
    for (const auto& [name, shape] : products_of(engine.config(), tokens)) {
      timings.push_back(
          {name, shape, measure_ours(shape, precision, workers, peers.weights()), peers.measure(shape)});
    }
  }
  return timings;
}

}  // namespace headscope::bench
