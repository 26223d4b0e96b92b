#include <benchmark/benchmark.h>

#include "app/run/memo.h"

// The worker's overhead for a new answer when thousands are kept: it stores the answer and publishes all of
// them to the window. This should take less than a millisecond.
namespace headscope::app {
namespace {

struct Number {
  std::size_t bytes() const { return 1; }
};
struct NumberOf {
  static constexpr std::string_view kName = "numbers";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  bool operator==(const NumberOf&) const = default;
  Number compute(const PromptRun&, const Computation<Number>&) const { return {}; }
};

void publish_answers(benchmark::State& state) {
  Memo memo(std::size_t{1} << 30);
  auto run = std::make_shared<model::Run>();
  run->tokens = {1, 2};
  memo.remember(std::move(run));
  const auto answer = std::make_shared<const Answer>(Answer{std::make_shared<const Number>(), 1, true, {}});
  const auto kept = static_cast<int>(state.range(0));
  for (int i = 0; i < kept; ++i) memo.keep(NumberOf{i / 12, i % 12}, answer, {});
  std::shared_ptr<const KnownAnswers> shown;
  int i = 0;
  for (auto _ : state) {
    memo.keep(NumberOf{i / 12, i % 12}, answer, {});
    shown = std::make_shared<const KnownAnswers>(memo.newest_answers());
    benchmark::DoNotOptimize(shown->find(NumberOf{i / 12, i % 12}));
    i = (i + 1) % kept;
  }
}
BENCHMARK(publish_answers)->Arg(50)->Arg(500)->Arg(5000)->Arg(50000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace headscope::app
