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

/// The machine's limits, measured right after a row of `headscope bench`, and the peers' products of a block
/// if the prompt is long enough for comparing.
struct RowYardsticks {
  MachineLimits limits;
  std::optional<std::array<PeerTimes, 4>> peers;
  std::optional<double> head_sweep = {};  ///< seconds to switch off each head in turn
  std::optional<double> heads_singly =
      {};  ///< the same with a separate pass for each head, continued from the unedited one
};

/// The yardsticks for the rows of `headscope bench`.
struct Yardsticks {
  model::Config config;
  std::vector<std::string> peers;   ///< empty if none was measured
  std::vector<RowYardsticks> rows;  ///< one for each row of the report
  std::vector<ProductTiming> products;
};

/// The results of `headscope bench` with the yardsticks and the ratios to them. Keys whose value was not
/// measured, or is meaningless for few tokens, are left out.
nlohmann::ordered_json yardsticks_json(const app::BenchReport& report, const Yardsticks& yardsticks);

}  // namespace headscope::bench
