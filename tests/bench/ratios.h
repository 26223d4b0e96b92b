#pragma once
#include <algorithm>
#include <array>
#include <span>

#include "model/files/config.h"
#include "model/files/convert.h"
#include "model/kernels/precision.h"
#include "tests/bench/machine_limits.h"
#include "tests/bench/peer_products.h"

/// Compares a model's times with the machine's limits and with the products of other libraries. Times are in
/// seconds; a ratio of 1 means that nothing is lost.
namespace headscope::bench {

/// From this number of tokens, a pass is compared with its products, below with the machine's limits.
constexpr int kTokensOfProducts = 64;

inline double bytes_per_value(model::Precision precision) {
  return static_cast<double>(model::element_bytes(precision));
}

/// The products of a block, in the order of a pass.
inline std::array<ProductShape, 4> block_shapes(const model::Config& config, int tokens) {
  const int d = config.n_embd;
  return {{{tokens, d, 3 * d}, {tokens, d, d}, {tokens, d, config.n_inner}, {tokens, config.n_inner, d}}};
}

inline ProductShape unembedding_shape(const model::Config& config, int tokens) {
  return {tokens, config.n_embd, config.vocab_size, true};
}

/// Multiplications and additions in the products of all blocks.
inline double products_flops(const model::Config& config, int tokens) {
  double flops = 0;
  for (const ProductShape& shape : block_shapes(config, tokens)) flops += shape.flops();
  return config.n_layer * flops;
}

/// The same for attention: scores and mixing up to the diagonal.
inline double attention_flops(const model::Config& config, int tokens) {
  return 2.0 * config.n_layer * config.n_embd * tokens * (tokens + 1.0);
}

/// The operations to recompute if each head is switched off in turn and the guesses after the last token are
/// needed: the MLP in the head's layer, everything in the layers above, except that the last layer needs only
/// keys and values and what the last token needs; then its logits.
inline double head_sweep_flops(const model::Config& config, int tokens) {
  const auto block = [&](int count) {
    const std::array<ProductShape, 4> shapes = block_shapes(config, count);
    return std::array{shapes[0].flops(), shapes[1].flops(), shapes[2].flops() + shapes[3].flops()};
  };
  const auto [qkv, out, mlp] = block(tokens);
  const auto [last_qkv, last_out, last_mlp] = block(1);
  const double attention = attention_flops(config, tokens) / config.n_layer;
  double flops = 0;
  for (int layer = 0; layer < config.n_layer; ++layer) {
    const int between = config.n_layer - 2 - layer;  // complete layers
    flops += layer == config.n_layer - 1 ? last_mlp
                                         : mlp + between * (qkv + out + mlp + attention) + qkv * 2 / 3 +
                                               last_qkv / 3 + last_out + last_mlp;
    flops += unembedding_shape(config, 1).flops();
  }
  return config.n_head * flops;
}

/// Bytes of the matrices in all blocks.
inline double block_bytes(const model::Config& config, model::Precision precision) {
  return products_flops(config, 1) / 2 * bytes_per_value(precision);
}
inline double unembedding_bytes(const model::Config& config, model::Precision precision) {
  return static_cast<double>(unembedding_shape(config, 1).values()) * bytes_per_value(precision);
}

/// The machine's minimum time, if it computes and reads at the same time.
inline double limit(double flops, double bytes, const MachineLimits& limits) {
  return std::max(flops / limits.flops_per_second, bytes / limits.bytes_per_second);
}

/// A product's minimum time, with its matrix read once.
inline double product_limit(const ProductShape& shape, model::Precision precision,
                            const MachineLimits& limits) {
  return limit(shape.flops(), static_cast<double>(shape.values()) * bytes_per_value(precision), limits);
}

/// A pass's minimum time, without logits.
inline double pass_limit(const model::Config& config, model::Precision precision, int tokens,
                         const MachineLimits& limits) {
  return limit(products_flops(config, tokens) + attention_flops(config, tokens),
               block_bytes(config, precision), limits);
}

/// The time of a pass without logits at the speed of the products: those of a block take `of_block`, and
/// attention runs at their rate.
inline double pass_of_products(const model::Config& config, int tokens, std::span<const double, 4> of_block) {
  double products = 0;
  for (const double time : of_block) products += config.n_layer * time;
  return products * (1 + attention_flops(config, tokens) / products_flops(config, tokens));
}

/// The minimum time of a pass with the logits at all positions, if everything were in registers.
inline double all_logits_arithmetic(const model::Config& config, int tokens, const MachineLimits& limits) {
  const double flops = products_flops(config, tokens) + attention_flops(config, tokens) +
                       unembedding_shape(config, tokens).flops();
  return limit(flops, 0, limits);
}

/// The minimum time of one more token after `tokens`: every matrix and all keys and values are read once.
inline double one_more_reading(const model::Config& config, model::Precision precision, int tokens,
                               const MachineLimits& limits) {
  const double cache = 2.0 * config.n_layer * config.n_embd * tokens * sizeof(float);
  return limit(0, block_bytes(config, precision) + unembedding_bytes(config, precision) + cache, limits);
}

}  // namespace headscope::bench
