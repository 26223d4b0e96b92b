#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <ostream>
#include <random>
#include <vector>

#include "app/commands/bench_ui.h"
#include "app/commands/commands.h"
#include "app/commands/engine.h"
#include "app/json_text.h"
#include "app/machine_limits.h"
#include "app/views/common.h"
#include "model/error.h"

namespace headscope::app {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

/// Medians of one length of prompt, in seconds.
struct Timing {
  int tokens = 0;
  int repetitions = 0;
  double pass = 0;         ///< the whole prompt, no logits
  double all_logits = 0;   ///< the whole prompt and what the model made of every position
  double last_logits = 0;  ///< the whole prompt and the logits after it
  double one_more = 0;     ///< one more token and the logits after it, everything before it kept
};

template <class Work>
double seconds(const Work& work) {
  const auto before = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - before).count();
}

/// Runs all kinds in turn, so that a disturbance hits each of them alike; at least 5 rounds, and 1.5 s or 200
/// rounds.
Timing measure(Engine& engine, std::vector<int> ids) {
  const model::Transformer& transformer = *engine.model->transformer;
  model::Workspace& workspace = engine.workspace;
  std::vector<float> logits(static_cast<std::size_t>(engine.config().vocab_size));
  const int length = static_cast<int>(ids.size());
  const auto last_logits = [&](const model::Run& run) {
    transformer.logits(run, run.length() - 1, 1, workspace, logits);
  };
  const std::vector<int> before_last(ids.begin(), ids.end() - 1);
  const auto kept = before_last.empty() ? nullptr : transformer.forward(before_last, workspace);
  model::ForwardOptions cached;
  cached.base = kept.get();

  std::vector<double> pass, all, last, more;
  const auto started = Clock::now();
  for (int round = -1; round < 200; ++round) {  // the first one warms up
    std::shared_ptr<const model::Run> run;
    const double pass_time = seconds([&] { run = transformer.forward(ids, workspace); });
    const double last_time = seconds([&] { last_logits(*run); });
    const double all_time = seconds([&] { transformer.statistics(*run, 0, length, 10, workspace); });
    const double more_time = seconds([&] { last_logits(*transformer.forward(ids, workspace, cached)); });
    if (round < 0) continue;
    pass.push_back(pass_time);
    last.push_back(pass_time + last_time);
    all.push_back(pass_time + all_time);
    more.push_back(more_time);
    if (round >= 4 && Clock::now() - started > std::chrono::milliseconds(1500)) break;
  }
  return {length, static_cast<int>(pass.size()), median(pass), median(all), median(last), median(more)};
}

/// Values of the matrices that every token is multiplied by: the blocks', and the unembedding apart.
struct Work {
  double block_values = 0;
  double unembedding_values = 0;
};

Work work_of(const model::Config& config) {
  const double d = config.n_embd;
  return {config.n_layer * (4 * d * d + 2 * d * config.n_inner), d * config.vocab_size};
}

/// Multiplications and additions of a pass over `tokens`: the matrices, and scores and mixing up to the
/// diagonal.
double pass_flops(const model::Config& config, double tokens) {
  const double attention = 2.0 * config.n_layer * config.n_embd * tokens * (tokens + 1);
  return 2 * work_of(config).block_values * tokens + attention;
}

double bytes_per_value(model::Precision precision) {
  return precision == model::Precision::f32 ? 4 : 2;
}

struct Report {
  std::vector<Timing> timings;
  MachineLimits limits;
  double model_peak_memory = 0;  ///< bytes, before the limits were measured
  std::vector<KeystrokeTiming> keystrokes;
};

/// The part of the machine's arithmetic that the whole pass with all logits uses.
double arithmetic_ratio(const model::Config& config, const Timing& timing, const MachineLimits& limits) {
  const double flops =
      pass_flops(config, timing.tokens) + 2 * work_of(config).unembedding_values * timing.tokens;
  return flops / timing.all_logits / limits.flops_per_second;
}

/// The part of the machine's memory bandwidth that one more token uses: every matrix, and the keys and
/// values, read once.
double bandwidth_ratio(const model::Config& config, model::Precision precision, const Timing& timing,
                       const MachineLimits& limits) {
  const Work work = work_of(config);
  const double weights = (work.block_values + work.unembedding_values) * bytes_per_value(precision);
  const double cache = 2.0 * config.n_layer * config.n_embd * timing.tokens * sizeof(float);
  return (weights + cache) / timing.one_more / limits.bytes_per_second;
}

Json report_json(const Engine& engine, const Report& report) {
  const model::Precision precision = engine.model->transformer->precision();
  Json runs = Json::array();
  for (const Timing& timing : report.timings) {
    runs.push_back(
        {{"tokens", timing.tokens},
         {"repetitions", timing.repetitions},
         {"pass_ms", 1e3 * timing.pass},
         {"pass_all_logits_ms", 1e3 * timing.all_logits},
         {"pass_last_logits_ms", 1e3 * timing.last_logits},
         {"one_more_token_ms", 1e3 * timing.one_more},
         {"pass_all_logits_of_peak_arithmetic", arithmetic_ratio(engine.config(), timing, report.limits)},
         {"one_more_token_of_read_bandwidth",
          bandwidth_ratio(engine.config(), precision, timing, report.limits)}});
  }
  Json keystrokes = Json::array();
  for (const KeystrokeTiming& timing : report.keystrokes) {
    keystrokes.push_back({{"tokens", timing.tokens},
                          {"at_the_end_ms", 1e3 * timing.at_the_end},
                          {"at_the_end_longest_ms", 1e3 * timing.at_the_end_longest},
                          {"at_the_start_ms", 1e3 * timing.at_the_start}});
  }
  Json json = {{"model", utf8_or_replacement(engine.model->name)},
               {"threads", engine.workspace.threads()},
               {"runs", std::move(runs)},
               {"peak_memory_bytes", report.model_peak_memory},
               {"machine",
                {{"gflop_per_s", report.limits.flops_per_second / 1e9},
                 {"read_gbyte_per_s", report.limits.bytes_per_second / 1e9}}}};
  if (!keystrokes.empty()) json["keystroke_to_picture"] = std::move(keystrokes);
  return json;
}

void write_text(const Engine& engine, const Report& report, std::ostream& out) {
  const model::Precision precision = engine.model->transformer->precision();
  out << engine.model->name << ", " << grouped(engine.model->transformer->parameter_count())
      << " parameters, " << engine.workspace.threads() << " threads; medians in milliseconds\n\n";
  out << format("%7s %12s %12s %12s %12s %14s %14s %6s\n", "tokens", "pass", "last logits", "all logits",
                "one more", "of arithmetic", "of bandwidth", "runs");
  for (const Timing& timing : report.timings) {
    out << format("%7d %12.3f %12.3f %12.3f %12.3f %13.1f%% %13.1f%% %6d\n", timing.tokens, 1e3 * timing.pass,
                  1e3 * timing.last_logits, 1e3 * timing.all_logits, 1e3 * timing.one_more,
                  100 * arithmetic_ratio(engine.config(), timing, report.limits),
                  100 * bandwidth_ratio(engine.config(), precision, timing, report.limits),
                  timing.repetitions);
  }
  if (!report.keystrokes.empty()) {
    out << "\nfrom a keystroke to the pictures of the window:\n";
    out << format("%7s %12s %12s %16s\n", "tokens", "at the end", "longest", "at the start");
  }
  for (const KeystrokeTiming& timing : report.keystrokes) {
    out << format("%7d %12.3f %12.3f %16.3f\n", timing.tokens, 1e3 * timing.at_the_end,
                  1e3 * timing.at_the_end_longest, 1e3 * timing.at_the_start);
  }
  out << format("\npeak memory %.1f MiB\n", report.model_peak_memory / (1 << 20));
  out << format("this machine, same threads: %.1f GFLOP/s multiply-add, %.1f GB/s read\n",
                report.limits.flops_per_second / 1e9, report.limits.bytes_per_second / 1e9);
  out << "of arithmetic: the pass with all logits; of bandwidth: one more token (small models stay in the "
         "caches)\n";
}

/// Any ids do: the time does not depend on them.
std::vector<int> some_ids(int length, int vocabulary) {
  std::mt19937 generator(1);
  std::vector<int> ids(static_cast<std::size_t>(length));
  std::ranges::generate(ids,
                        [&] { return static_cast<int>(generator() % static_cast<unsigned>(vocabulary)); });
  return ids;
}

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

}  // namespace

void run_bench(const BenchCommand& command, const Streams& streams) {
  Engine engine = start_engine(command.model);
  Report report;
  const std::vector<int> lengths = lengths_to_measure(command, engine.config());
  for (const int length : lengths) {
    report.timings.push_back(measure(engine, some_ids(length, engine.config().vocab_size)));
  }
  report.model_peak_memory = peak_memory_bytes();
  if (command.ui) report.keystrokes = measure_keystrokes(*engine.model, command.model, lengths);
  report.limits = measure_machine_limits(engine.workspace.threads());
  if (command.json) {
    streams.out << report_json(engine, report).dump() << '\n';
  } else {
    write_text(engine, report, streams.out);
  }
}

}  // namespace headscope::app
