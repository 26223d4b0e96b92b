// A sweep that switches off each head of the bundled model in turn, until the logits after the last token are
// known:
//
//     of_passes  our speed, relative to a pass for each head, continued from the unedited one
#include <benchmark/benchmark.h>

#include <vector>

#include "app/run/analyses/sweep.h"
#include "app/run/prompt_run.h"
#include "app/run/sources/paths.h"
#include "tests/bench/stopwatch.h"

namespace headscope::app {
namespace {

void switch_off_each_head(benchmark::State& state) {
  model::Workspace workspace;
  PromptRun run;
  run.model = load_model(bundled_model(), {});
  const model::Transformer& transformer = *run.model->transformer;
  const model::Config& config = transformer.config();
  const auto tokens = static_cast<int>(state.range(0));
  std::vector<int> ids(tokens);
  for (int i = 0; i < tokens; ++i) ids[i] = 17 * i % config.vocab_size;
  run.run = transformer.forward(ids, workspace);
  SweepOf question;
  question.position = tokens - 1;
  const Computation<Sweep> computation{workspace, {}, nullptr, nullptr, [](const Sweep&, double) {}};
  std::vector<float> logits(config.vocab_size);
  std::vector<double> ours, passes;
  for (auto _ : state) {
    ours.push_back(seconds([&] { benchmark::DoNotOptimize(question.compute(run, computation)); }));
    state.SetIterationTime(ours.back());
    passes.push_back(seconds([&] {
      for (int layer = 0; layer < config.n_layer; ++layer)
        for (int head = 0; head < config.n_head; ++head) {
          model::ForwardOptions options;
          options.plan = transformer.plan(question.edits(layer, head), workspace);
          options.clean = run.run.get();
          transformer.logits(*transformer.forward(ids, workspace, options), tokens - 1, 1, workspace, logits);
        }
    }));
  }
  state.counters["of_passes"] = median(passes) / median(ours);
}

BENCHMARK(switch_off_each_head)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->ArgName("T")
    ->Arg(16)
    ->Arg(64)
    ->Arg(251);

}  // namespace
}  // namespace headscope::app
