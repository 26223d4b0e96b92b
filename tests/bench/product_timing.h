#pragma once
#include <string>
#include <vector>

#include "app/cli/commands/engine.h"
#include "tests/bench/peer_products.h"

namespace headscope::bench {

/// The times of one product of the model: ours in the model's precision, and the peers'.
struct ProductTiming {
  std::string matrix;  ///< its name in Hugging Face's files, without the block
  ProductShape shape;
  double seconds = 0;  ///< our median
  PeerTimes peers;
};

/// The number of values in the model's largest matrix.
std::size_t largest_matrix(const model::Config& config);

/// Times a block's matrices and the unembedding with 1, 16, 64, 256 and 1,024 tokens, up to the context
/// length.
std::vector<ProductTiming> measure_products(app::Engine& engine, PeerProducts& peers);

}  // namespace headscope::bench
