#include "app/cli/commands/bench.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <ostream>
#include <vector>

#include "app/cli/arguments/command_syntax.h"
#include "app/run/memory_budget.h"
#include "app/text/json_text.h"
#include "app/views/parts/names.h"
#include "app/views/view.h"
#include "model/files/error.h"
#include "model/kernels/workspace.h"

namespace headscope::app {
namespace {

std::vector<int> lengths_to_measure(const BenchCommand& command, const model::Config& config) {
  std::vector<int> lengths = command.tokens;
  if (lengths.empty()) {
    std::ranges::copy_if(std::array{16, 64, 256, 1024}, std::back_inserter(lengths),
                         [&](int length) { return length < config.n_ctx; });
    lengths.push_back(std::min(config.n_ctx, 1024));
  }
  std::ranges::sort(lengths);
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  if (lengths.back() > config.n_ctx) {
    throw model::RunError("the model takes at most " + grouped(config.n_ctx) + " tokens (n_ctx), not " +
                          grouped(lengths.back()) + "; see --tokens");
  }
  return lengths;
}

BenchReport report_on(Engine& engine) {
  const model::Transformer& transformer = *engine.model->transformer;
  BenchReport report;
  report.model = engine.model->name;
  report.precision = transformer.precision();
  report.parameters = transformer.parameter_count();
  report.threads = engine.workspace.threads();
  report.kernels = engine.workspace.impl().workers.kernels().name;
  return report;
}

}  // namespace

BenchReport measure_bench(const BenchCommand& command, Engine& engine,
                          const std::function<void(const PassTiming&)>& after_row) {
  const std::vector<int> lengths = lengths_to_measure(command, engine.config());
  BenchReport report = report_on(engine);
  rehearse_passes(engine, lengths.back());
  report.peak_memory = peak_memory_bytes();  // before the patterns and the window take theirs
  for (const int length : lengths) {
    report.rows.push_back(measure_passes(engine, length, command.materialize));
    if (after_row) after_row(report.rows.back());
  }
  if (command.ui) report.window = measure_window(*engine.model, command.model, lengths);
  return report;
}

namespace {

void run_bench(const BenchCommand& command, const Streams& streams) {
  Engine engine = start_engine(command.model);
  const BenchReport report = measure_bench(command, engine);
  if (command.json) {
    streams.out << json_line(bench_json(report)) << '\n';
  } else {
    streams.out << bench_text(report);
  }
}

}  // namespace

Finish describe_bench(CommandSyntax& command) {
  const auto own = std::make_shared<BenchCommand>();
  command.computing();
  command.option("tokens", "N,...",
                 "lengths of the prompts (default: 16,64,256,1024, as far as\nthe context goes)", own->tokens,
                 lengths);
  command.flag("materialize", "passes that return the patterns of all heads, too", own->materialize);
  command.flag("ui", "from a keystroke or another head to the window's picture, too", own->ui);
  command.json();
  return command.finish(
      own, [](BenchCommand&) {}, run_bench);
}

}  // namespace headscope::app
