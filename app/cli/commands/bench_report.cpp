#include "app/cli/commands/bench_report.h"

#include "app/run/analyses/attribution.h"
#include "app/run/sources/precision_names.h"
#include "app/text/json_text.h"
#include "app/views/parts/names.h"
#include "app/views/view.h"

namespace headscope::app {
namespace {

using Json = nlohmann::ordered_json;

Json run_json(const PassTiming& timing) {
  Json json = {{"tokens", timing.tokens},
               {"repetitions", timing.repetitions},
               {"pass_ms", 1e3 * timing.pass},
               {"pass_all_logits_ms", 1e3 * timing.all_logits},
               {"pass_last_logits_ms", 1e3 * timing.last_logits},
               {"one_more_token_ms", 1e3 * timing.one_more}};
  if (timing.all_maps) json["pass_all_maps_ms"] = 1e3 * *timing.all_maps;
  if (timing.maps_and_logits) json["pass_all_maps_all_logits_ms"] = 1e3 * *timing.maps_and_logits;
  return json;
}

Json window_json(const WindowTiming& timing) {
  Json json = {{"tokens", timing.tokens},
               {"typed_at_the_end_ms", 1e3 * timing.at_the_end},
               {"typed_at_the_end_longest_ms", 1e3 * timing.at_the_end_longest},
               {"typed_at_the_start_ms", 1e3 * timing.at_the_start},
               {"other_head_ms", 1e3 * timing.other_head},
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
  const bool maps = !report.rows.empty() && report.rows.front().maps_and_logits.has_value();
  std::string text = format("%6s %12s %12s", "tokens", "last logits", "all logits");
  if (maps) text += format(" %16s", "maps and logits");
  text += format(" %15s %6s\n", "one more token", "runs");
  for (const PassTiming& timing : report.rows) {
    text += format("%6d %12.3f %12.3f", timing.tokens, 1e3 * timing.last_logits, 1e3 * timing.all_logits);
    if (maps) text += format(" %16.3f", 1e3 * timing.maps_and_logits.value());
    text += format(" %15.3f %6d\n", 1e3 * timing.one_more, timing.repetitions);
  }
  return text;
}

std::string window_text(const BenchReport& report) {
  std::string text = "\nuntil the window is drawn again, without the graphics driver:\n" +
                     format("%6s %12s %10s %14s %10s %9s %11s\n", "tokens", "typed at end", "(slowest)",
                            "typed at start", "other head", "head off", "nothing new");
  for (const WindowTiming& timing : report.window) {
    text += format("%6d %12.3f %10.3f %14.3f %10.3f %9.3f %11.3f\n", timing.tokens, 1e3 * timing.at_the_end,
                   1e3 * timing.at_the_end_longest, 1e3 * timing.at_the_start, 1e3 * timing.other_head,
                   1e3 * timing.head_off, 1e3 * timing.settled_frame);
  }
  for (const WindowTiming& timing : report.window) {
    if (timing.views.empty()) continue;
    text += format("\na view opened at %d tokens:\n%-14s %10s %10s %12s\n", timing.tokens, "", "first drawn",
                   "whole", "nothing new");
    for (const ViewTiming& view : timing.views)
      text += format("%-14s %10.3f %10.3f %12.3f\n", view.id.c_str(), 1e3 * view.first, 1e3 * view.whole,
                     1e3 * view.frame);
  }
  return text;
}

}  // namespace

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
                     " threads, " + report.kernels + " loops; medians in milliseconds\n\n" +
                     passes_text(report);
  if (!report.window.empty()) text += window_text(report);
  return text + format("\npeak memory %.1f MiB\n", report.peak_memory / (1 << 20));
}

}  // namespace headscope::app
