// headscope_yardsticks [--products] [--sweep] [OPTIONS OF headscope bench]: the measurements of `headscope
// bench` as JSON, with the machine's limits and other libraries for comparison. --products: also compares
// each product with Eigen's and OpenBLAS's. --sweep: also switches off each head in turn, as the Sweep view
// does and with a separate pass for each. tests/bench/report.py makes tables of it.
#include <algorithm>
#include <array>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/arguments/command.h"
#include "app/cli/commands/bench.h"
#include "app/cli/stopwatch.h"
#include "app/run/analyses/sweep.h"
#include "tests/bench/ratios.h"
#include "tests/bench/yardsticks.h"

namespace headscope::bench {
namespace {

constexpr const char* kName = "headscope_yardsticks";

std::array<PeerTimes, 4> measure_block(const model::Config& config, int tokens, PeerProducts& peers) {
  std::array<PeerTimes, 4> times;
  std::ranges::transform(block_shapes(config, tokens), times.begin(),
                         [&](const ProductShape& shape) { return peers.measure(shape); });
  return times;
}

/// Adds the time of switching off each head in turn until the guesses after the last token are known: as the
/// view computes them, and with separate passes.
void measure_head_sweep(app::Engine& engine, int tokens, RowYardsticks& row) {
  std::vector<int> ids(tokens);
  for (int i = 0; i < tokens; ++i) ids[i] = 17 * i % engine.config().vocab_size;
  app::PromptRun run;
  run.model = engine.model;
  run.run = engine.model->transformer->forward(ids, engine.workspace);
  app::SweepOf question;
  question.position = tokens - 1;
  const app::Computation<app::Sweep> computation{
      engine.workspace, {}, nullptr, nullptr, [](const app::Sweep&, double) {}};
  row.head_sweep = app::seconds([&] { static_cast<void>(question.compute(run, computation)); });

  const model::Transformer& transformer = *engine.model->transformer;
  std::vector<float> logits(engine.config().vocab_size);
  row.heads_singly = app::seconds([&] {
    for (int layer = 0; layer < engine.config().n_layer; ++layer)
      for (int head = 0; head < engine.config().n_head; ++head) {
        model::ForwardOptions options;
        options.plan = transformer.plan(question.edits(layer, head), engine.workspace);
        options.clean = run.run.get();
        const auto edited = transformer.forward(ids, engine.workspace, options);
        transformer.logits(*edited, tokens - 1, 1, engine.workspace, logits);
      }
  });
}

/// Measures the yardsticks right after the passes they are compared with, because a processor's clock rate
/// varies.
nlohmann::ordered_json measure(const app::BenchCommand& command, bool products, bool sweep) {
  app::Engine engine = app::start_engine(command.model);
  Yardsticks yardsticks;
  yardsticks.config = engine.config();
  std::optional<PeerProducts> made;
  const auto peers = [&]() -> PeerProducts& {
    if (!made) {
      made.emplace(largest_matrix(engine.config()), engine.workspace.impl().workers);
      yardsticks.peers = made->names();
    }
    return *made;
  };
  const app::BenchReport report = measure_bench(command, engine, [&](const app::PassTiming& timing) {
    RowYardsticks& row = yardsticks.rows.emplace_back();
    row.limits = measure_machine_limits(engine.workspace.threads());
    if (timing.tokens >= kTokensOfProducts)
      row.peers = measure_block(engine.config(), timing.tokens, peers());
    if (sweep) measure_head_sweep(engine, timing.tokens, row);
  });
  if (products) yardsticks.products = measure_products(engine, peers());
  return yardsticks_json(report, yardsticks);
}

int run(std::vector<std::string> words) {
  const bool products = std::erase(words, "--products") > 0, sweep = std::erase(words, "--sweep") > 0;
  words.insert(words.begin(), "bench");
  const app::Command command = app::parse_command_line(words);
  if (const auto* answer = std::get_if<app::Reply>(&command)) {
    if (answer->status == 0) {
      std::cout << answer->text;
    } else {
      std::cerr << kName << ": " << answer->text << '\n';
    }
    return answer->status;
  }
  std::cout << measure(*app::command_arguments<app::BenchCommand>(command), products, sweep).dump() << '\n'
            << std::flush;
  return std::cout ? 0 : 1;
}

}  // namespace
}  // namespace headscope::bench

int main(int argc, char** argv) {
  try {
    return headscope::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << headscope::bench::kName << ": " << error.what() << '\n';
    return 1;
  }
}
