#include "app/cli/commands/bench.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/commands/how.h"
#include "app/cli/commands/output.h"
#include "app/run/memory_budget.h"
#include "app/run/sources/precision_names.h"
#include "model/kernels/workspace.h"
#include "system/machine.h"

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
  if (lengths.back() > config.n_ctx)
    throw model::RunError("the model takes at most " + grouped(config.n_ctx) + " tokens (n_ctx), not " +
                          grouped(lengths.back()) + "; see --tokens");
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

Json run_json(const PassTiming& timing) {
  Json json = {{"tokens", timing.tokens},
               {"repetitions", timing.repetitions},
               {"pass_ms", 1e3 * timing.pass},
               {"pass_all_logits_ms", 1e3 * timing.all_logits},
               {"pass_last_logits_ms", 1e3 * timing.last_logits},
               {"one_more_token_ms", 1e3 * timing.next_token},
               {"gradients_ms", 1e3 * timing.gradients}};
  if (timing.all_patterns) json["pass_all_maps_ms"] = 1e3 * *timing.all_patterns;
  if (timing.patterns_and_logits) json["pass_all_maps_all_logits_ms"] = 1e3 * *timing.patterns_and_logits;
  return json;
}

Json window_json(const WindowTiming& timing) {
  Json json = {{"tokens", timing.tokens},
               {"typed_at_the_end_ms", 1e3 * timing.append_letter},
               {"typed_at_the_end_longest_ms", 1e3 * timing.append_letter_longest},
               {"typed_at_the_start_ms", 1e3 * timing.replace_first_letter},
               {"other_head_ms", 1e3 * timing.select_head},
               {"head_off_ms", 1e3 * timing.head_off},
               {"settled_frame_ms", 1e3 * timing.settled_frame}};
  for (const ViewTiming& view : timing.views)
    json["views"].push_back({{"view", view.id},
                             {"opened_ms", 1e3 * view.first},
                             {"whole_ms", 1e3 * view.whole},
                             {"settled_frame_ms", 1e3 * view.frame}});
  return json;
}

std::string passes_text(const BenchReport& report) {
  const bool maps = !report.rows.empty() && report.rows.front().patterns_and_logits.has_value();
  std::string text = format("%6s %11s %10s", "tokens", "last logits", "all logits");
  if (maps) text += format(" %15s", "maps and logits");
  text += format(" %14s %10s %5s\n", "one more token", "gradients", "runs");
  for (const PassTiming& timing : report.rows) {
    text += format("%6d %11.3f %10.3f", timing.tokens, 1e3 * timing.last_logits, 1e3 * timing.all_logits);
    if (maps) text += format(" %15.3f", 1e3 * timing.patterns_and_logits.value());
    text +=
        format(" %14.3f %10.3f %5d\n", 1e3 * timing.next_token, 1e3 * timing.gradients, timing.repetitions);
  }
  return text;
}

std::string window_text(const BenchReport& report) {
  std::string text = "\ntime until the window is redrawn, without the graphics driver:\n" +
                     format("%6s %12s %10s %14s %10s %9s %11s\n", "tokens", "typed at end", "(slowest)",
                            "typed at start", "other head", "head off", "idle");
  for (const WindowTiming& timing : report.window) {
    text +=
        format("%6d %12.3f %10.3f %14.3f %10.3f %9.3f %11.3f\n", timing.tokens, 1e3 * timing.append_letter,
               1e3 * timing.append_letter_longest, 1e3 * timing.replace_first_letter,
               1e3 * timing.select_head, 1e3 * timing.head_off, 1e3 * timing.settled_frame);
  }
  for (const WindowTiming& timing : report.window) {
    if (timing.views.empty()) continue;
    text += format("\nopening a view at %d tokens:\n%-14s %10s %10s %12s\n", timing.tokens, "", "first frame",
                   "complete", "idle");
    for (const ViewTiming& view : timing.views)
      text += format("%-14s %10.3f %10.3f %12.3f\n", view.id.c_str(), 1e3 * view.first, 1e3 * view.whole,
                     1e3 * view.frame);
  }
  return text;
}

}  // namespace

BenchReport measure_bench(const BenchCommand& command, Engine& engine,
                          const std::function<void(const PassTiming&)>& after_row) {
  const std::vector<int> lengths = lengths_to_measure(command, engine.config());
  BenchReport report = report_on(engine);
  warm_up_passes(engine, lengths.back());
  report.peak_memory = system::peak_memory_bytes();  // before patterns are materialized
  for (const int length : lengths) {
    report.rows.push_back(measure_passes(engine, length, command.materialize));
    if (after_row) after_row(report.rows.back());
  }
  if (command.ui) {
    report.window = measure_window(*engine.model, command.model, lengths);
    report.peak_memory = system::peak_memory_bytes();
  }
  return report;
}

nlohmann::ordered_json bench_json(const BenchReport& report) {
  Json json = {{"model", utf8_or_replacement(report.model)},
               {"threads", report.threads},
               {"precision", name_of(report.precision)},
               {"kernels", report.kernels},
               {"runs", Json::array()},
               {"peak_memory_bytes", report.peak_memory}};
  for (const PassTiming& timing : report.rows) json["runs"].push_back(run_json(timing));
  for (const WindowTiming& timing : report.window) json["window"].push_back(window_json(timing));
  return json;
}

std::string bench_text(const BenchReport& report) {
  std::string text = report.model + ", " + grouped(report.parameters) + " parameters, " +
                     std::string(name_of(report.precision)) + ", " + std::to_string(report.threads) +
                     " threads, " + report.kernels + " kernels; medians in ms\n\n" + passes_text(report);
  if (!report.window.empty()) text += window_text(report);
  return text + format("\npeak memory %.1f MiB\n", report.peak_memory / (1 << 20));
}

namespace {

/// The report with what it was measured by.
Json of_program(Json report) {
  Json answer = {{"how", {{"program", program_name()}}}};
  answer.update(report);
  return answer;
}

void run_bench(const BenchCommand& command, const Streams& streams) {
  Engine engine = start_engine(command.model);
  const BenchReport report = measure_bench(command, engine);
  if (command.json) {
    streams.out << json_line(of_program(bench_json(report))) << '\n';
  } else {
    streams.out << bench_text(report);
  }
}

}  // namespace

Finish describe_bench(CommandSyntax& command) {
  const auto own = std::make_shared<BenchCommand>();
  command.computing();
  command.option("tokens", "N,...",
                 "lengths of the prompts (default: 16,64,256,1024, up to\nthe length of the context)",
                 own->tokens, lengths);
  command.flag("materialize", "also time passes that return the patterns of all heads", own->materialize);
  command.flag("ui", "also time the window, from a keystroke or another head to its picture", own->ui);
  command.json();
  command.answer_out();
  return command.finish(
      own, [](BenchCommand&) {}, run_bench);
}

}  // namespace headscope::app
