#pragma once
#include <functional>

#include "app/cli/commands/bench_report.h"
#include "app/cli/commands/engine.h"

namespace headscope::app {

struct BenchCommand : Arguments {
  std::vector<int> tokens;   ///< lengths; empty: the usual ones, as far as the context goes
  bool materialize = false;  ///< passes that return every head's pattern, too
  bool ui = false;           ///< the window, too
};

/// Measures what the command asks for. `after_row` runs right after the passes of each length. Throws
/// model::RunError for lengths beyond n_ctx.
BenchReport measure_bench(const BenchCommand& command, Engine& engine,
                          const std::function<void(const PassTiming&)>& after_row = {});

}  // namespace headscope::app
