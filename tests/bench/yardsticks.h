#pragma once
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/commands/bench.h"
#include "model/files/config.h"
#include "tests/bench/machine_limits.h"
#include "tests/bench/peer_products.h"
#include "tests/bench/product_timing.h"

namespace headscope::bench {

/// What the machine reached right after a row of `headscope bench`, and, where its prompt is long enough to
/// be compared with them, the peers' products of a block.
struct RowYardsticks {
  MachineLimits limits;
  std::optional<std::array<PeerTimes, 4>> peers;
  std::optional<double> head_sweep = {};    ///< seconds that switching off each head in turn takes
  std::optional<double> heads_singly = {};  ///< the same by a pass for each, which goes on from the clean one
};

/// What the rows of `headscope bench` are held against.
struct Yardsticks {
  model::Config config;
  std::vector<std::string> peers;   ///< empty when none was measured
  std::vector<RowYardsticks> rows;  ///< one for each of the report's
  std::vector<ProductTiming> products;
};

/// What `headscope bench` says, with the yardsticks and the ratios to them. Keys whose value was not
/// measured, or means nothing for so few tokens, are left out.
nlohmann::ordered_json yardsticks_json(const app::BenchReport& report, const Yardsticks& yardsticks);

}  // namespace headscope::bench
