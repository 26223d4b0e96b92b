#include <algorithm>
#include <array>
#include <iterator>
#include <ostream>
#include <vector>

#include "app/commands/bench_ratios.h"
#include "app/commands/bench_report.h"
#include "app/commands/commands.h"
#include "app/views/common.h"
#include "model/error.h"

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
  report.config = transformer.config();
  report.precision = transformer.precision();
  report.parameters = transformer.parameter_count();
  report.threads = engine.workspace.threads();
  report.kernels = engine.workspace.impl().workers.kernels().name;
  return report;
}

std::array<PeerTimes, 4> measure_block(const model::Config& config, int tokens, PeerProducts& peers) {
  std::array<PeerTimes, 4> times;
  std::ranges::transform(block_shapes(config, tokens), times.begin(),
                         [&](const ProductShape& shape) { return peers.measure(shape); });
  return times;
}

/// Yardsticks right after the passes that they are compared with: the clock of a processor wanders.
void measure_passes_and_products(const BenchCommand& command, Engine& engine, const std::vector<int>& lengths,
                                 BenchReport& report) {
  std::optional<PeerProducts> peers;
  if (command.products || lengths.back() >= kTokensOfProducts) {
    peers.emplace(largest_matrix(report.config), engine.workspace.impl().workers);
    report.peers = peers->names();
  }
  for (const int length : lengths) {
    BenchRow& row = report.rows.emplace_back();
    row.timing = measure_passes(engine, length, command.materialize);
    row.limits = measure_machine_limits(engine.workspace.threads());
    report.limits.flops_per_second = std::max(report.limits.flops_per_second, row.limits.flops_per_second);
    report.limits.bytes_per_second = std::max(report.limits.bytes_per_second, row.limits.bytes_per_second);
    if (length >= kTokensOfProducts) row.peers = measure_block(report.config, length, *peers);
  }
  if (command.products) report.products = measure_products(engine, *peers);
}

}  // namespace

void run_bench(const BenchCommand& command, const Streams& streams) {
  Engine engine = start_engine(command.model);
  const std::vector<int> lengths = lengths_to_measure(command, engine.config());
  BenchReport report = report_on(engine);
  rehearse_passes(engine, lengths.back());
  report.peak_memory = peak_memory_bytes();  // before the yardsticks take theirs
  measure_passes_and_products(command, engine, lengths, report);
  if (command.ui) report.keystrokes = measure_keystrokes(*engine.model, command.model, lengths);
  if (command.json) {
    streams.out << bench_json(report).dump() << '\n';
  } else {
    streams.out << bench_text(report);
  }
}

}  // namespace headscope::app
