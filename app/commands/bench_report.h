#pragma once
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/bench_passes.h"
#include "app/commands/bench_products.h"
#include "app/commands/bench_ui.h"
#include "app/machine_limits.h"

namespace headscope::app {

/// A length of prompt, what the machine reached right after, and, where it is long enough to be compared with
/// them, the peers' products of a block.
struct BenchRow {
  PassTiming timing;
  MachineLimits limits;
  std::optional<std::array<PeerTimes, 4>> peers;
};

/// What `headscope bench` measured, and of what.
struct BenchReport {
  std::string model;
  model::Config config;
  model::Precision precision = model::Precision::f32;
  std::int64_t parameters = 0;
  int threads = 0;
  std::string kernels;             ///< the kind of processor that the inner loops are for
  std::vector<std::string> peers;  ///< empty when none was measured
  std::vector<BenchRow> rows;
  std::vector<ProductTiming> products;
  std::vector<KeystrokeTiming> keystrokes;
  double peak_memory = 0;  ///< bytes, of the model's passes without materialized patterns
  MachineLimits limits;    ///< the best of all rows', beside which the products stand
};

/// Keys whose value was not measured, or means nothing for so few tokens, are left out.
nlohmann::ordered_json bench_json(const BenchReport& report);

/// Tables of at most 120 columns.
std::string bench_text(const BenchReport& report);

}  // namespace headscope::app
