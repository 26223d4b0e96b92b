#pragma once
#include <string>
#include <vector>

#include "app/cli/commands/engine.h"
#include "tests/bench/peer_products.h"

namespace headscope::bench {

/// A product of the model's, ours in the model's precision beside the peers'.
struct ProductTiming {
  std::string matrix;  ///< its name in Hugging Face's files, without the block's
  ProductShape shape;
  double seconds = 0;  ///< median, ours
  PeerTimes peers;
};

/// The most values that a matrix of the model has.
std::size_t largest_matrix(const model::Config& config);

/// A block's matrices and the unembedding, by 1, 16, 64, 256 and 1,024 tokens as far as the context goes.
std::vector<ProductTiming> measure_products(app::Engine& engine, PeerProducts& peers);

}  // namespace headscope::bench
