#include "app/cli/commands/bench.h"

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "app/cli/stopwatch.h"
#include "model/kernels/workspace.h"

namespace headscope::app {
namespace {

/// Arbitrary ids, since the time does not depend on them.
std::vector<int> some_ids(int length, int vocabulary) {
  std::mt19937 generator(1);
  std::vector<int> ids(length);
  std::ranges::generate(ids,
                        [&] { return static_cast<int>(generator() % static_cast<unsigned>(vocabulary)); });
  return ids;
}

/// Writes the patterns of all heads in parallel, one head per thread.
void write_patterns(const model::Transformer& transformer, const model::Run& run, model::Workers& workers,
                    std::span<float> patterns) {
  const model::Config& config = transformer.config();
  const auto cells = static_cast<std::size_t>(run.length()) * static_cast<std::size_t>(run.length());
  workers.parallel_for(config.n_layer * config.n_head, [&](int head, float*) {
    transformer.pattern(run, head / config.n_head, head % config.n_head,
                        patterns.subspan(static_cast<std::size_t>(head) * cells, cells));
  });
}

/// A prompt for repeated passes.
class Pass {
 public:
  Pass(Engine& engine, int tokens)
      : engine_(engine),
        ids_(some_ids(tokens, engine.config().vocab_size)),
        logits_(static_cast<std::size_t>(engine.config().vocab_size)) {
    longer_ = ids_;
    longer_.push_back(ids_.front());
  }

  /// Measures one round. `patterns` is empty if they are not measured.
  PassTiming measure(std::span<float> patterns, bool gradients) {
    model::Workspace& workspace = engine_.workspace;
    PassTiming round;
    round.tokens = static_cast<int>(ids_.size());
    std::shared_ptr<const model::Run> run;
    round.pass = seconds([&] { run = transformer().forward(ids_, workspace); });
    round.last_logits = round.pass + seconds([&] { last_logits(*run); });
    const double statistics =
        seconds([&] { transformer().statistics(*run, 0, run->length(), 10, workspace); });
    round.all_logits = round.pass + statistics;
    round.next_token = next_token(run);
    if (gradients) round.gradients = seconds([&] { all_gradients(*run); });
    if (!patterns.empty()) {
      round.all_patterns = round.pass + seconds([&] {
                             write_patterns(transformer(), *run, workspace.impl().workers, patterns);
                           });
      round.patterns_and_logits = *round.all_patterns + statistics;
    }
    return round;
  }

 private:
  Engine& engine_;
  std::vector<int> ids_;
  std::vector<float> logits_;
  std::vector<int> longer_;  // one token longer

  /// As in generation: the previous run has unused room after its last row. For the longest prompt, its last
  /// token is the additional one.
  double next_token(std::shared_ptr<const model::Run> run) {
    std::span<const int> ids = longer_;
    if (run->length() == engine_.config().n_ctx) {
      ids = ids_;
      run = transformer().forward(ids.first(ids.size() - 1), engine_.workspace);
    }
    model::ForwardOptions cached;
    cached.base = run.get();
    return seconds([&] { last_logits(*transformer().forward(ids, engine_.workspace, cached)); });
  }

  /// Down to the embedding, which nobody reads.
  void all_gradients(const model::Run& run) {
    model::Hooks hooks;
    hooks.watch({model::Site::embed}, [](const model::ConstActivation2d&) {});
    model::GradientOptions options;
    options.hooks = &hooks;
    transformer().gradients(run, model::LogProbability{}, engine_.workspace, options);
  }

  const model::Transformer& transformer() const { return *engine_.model->transformer; }
  void last_logits(const model::Run& run) {
    transformer().logits(run, run.length() - 1, 1, engine_.workspace, logits_);
  }
};

/// The median of the member `what` of PassTiming.
template <class Member>
double median_of(const std::vector<PassTiming>& rounds, Member what) {
  std::vector<double> values;
  for (const PassTiming& round : rounds) values.push_back(std::optional<double>(round.*what).value());
  return median(std::move(values));
}

}  // namespace

// Each round measures every kind, so that a disturbance affects all of them equally.
PassTiming measure_passes(Engine& engine, int tokens, bool materialize) {
  constexpr int kFewest = 5, kMax = 200;
  constexpr double kEnough = 1.5;
  const model::Config& config = engine.config();
  std::vector<float> patterns;
  if (materialize)
    patterns.resize(static_cast<std::size_t>(config.n_layer) * static_cast<std::size_t>(config.n_head) *
                    static_cast<std::size_t>(tokens) * static_cast<std::size_t>(tokens));
  Pass prompt(engine, tokens);
  prompt.measure(patterns, true);  // warm-up
  std::vector<PassTiming> rounds;
  for (double spent = 0; std::ssize(rounds) < kFewest || (std::ssize(rounds) < kMax && spent < kEnough);)
    spent += seconds([&] { rounds.push_back(prompt.measure(patterns, true)); });
  PassTiming timing = rounds.front();
  timing.repetitions = static_cast<int>(rounds.size());
  for (const auto what : {&PassTiming::pass, &PassTiming::last_logits, &PassTiming::all_logits,
                          &PassTiming::next_token, &PassTiming::gradients})
    timing.*what = median_of(rounds, what);
  if (materialize)
    for (const auto what : {&PassTiming::all_patterns, &PassTiming::patterns_and_logits})
      timing.*what = median_of(rounds, what);
  return timing;
}

void warm_up_passes(Engine& engine, int tokens) {
  Pass(engine, tokens).measure({}, false);
}

}  // namespace headscope::app
