#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/cli/commands/bench_passes.h"
#include "app/cli/commands/bench_ui.h"

namespace headscope::app {

/// What `headscope bench` measured, and of what.
struct BenchReport {
  std::string model;
  model::Precision precision = model::Precision::f32;
  std::int64_t parameters = 0;
  int threads = 0;
  std::string kernels;  ///< the kind of processor that the inner loops are for
  std::vector<PassTiming> rows;
  std::vector<WindowTiming> window;  ///< empty when it was not measured
  double peak_memory = 0;            ///< bytes, of the model's passes without materialized patterns
};

/// Keys whose value was not measured are left out.
nlohmann::ordered_json bench_json(const BenchReport& report);

/// Tables of at most 80 columns.
std::string bench_text(const BenchReport& report);

}  // namespace headscope::app
