#include "app/commands/bench_report.h"

#include <functional>

#include "app/commands/bench_ratios.h"
#include "app/json_text.h"
#include "app/views/common.h"

namespace headscope::app {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(model::Precision precision) {
  switch (precision) {
    case model::Precision::f32:
      return "f32";
    case model::Precision::f16:
      return "f16";
    case model::Precision::bf16:
      return "bf16";
  }
  return "";
}

// --- a row's ratios; none where they mean nothing

std::optional<double> of_products(const BenchReport& report, const BenchRow& row) {
  if (!row.peers) return std::nullopt;
  std::array<double, 4> fastest{};
  std::ranges::transform(*row.peers, fastest.begin(), &PeerTimes::fastest);
  return pass_of_products(report.config, row.timing.tokens, fastest) / row.timing.pass;
}

std::optional<double> of_limit(const BenchReport& report, const BenchRow& row) {
  if (row.timing.tokens >= kTokensOfProducts) return std::nullopt;
  return pass_limit(report.config, report.precision, row.timing.tokens, row.limits) / row.timing.pass;
}

double of_arithmetic(const BenchReport& report, const BenchRow& row) {
  return all_logits_arithmetic(report.config, row.timing.tokens, row.limits) / row.timing.all_logits;
}

double of_reading(const BenchReport& report, const BenchRow& row) {
  return one_more_reading(report.config, report.precision, row.timing.tokens, row.limits) /
         row.timing.one_more;
}

/// The time of all blocks' products by one peer.
std::optional<double> blocks_by(const BenchReport& report, const BenchRow& row,
                                const std::function<std::optional<double>(const PeerTimes&)>& peer) {
  if (!row.peers) return std::nullopt;
  double sum = 0;
  for (const PeerTimes& times : *row.peers) {
    const std::optional<double> time = peer(times);
    if (!time) return std::nullopt;
    sum += report.config.n_layer * *time;
  }
  return sum;
}

double gflops(const ProductShape& shape, double seconds) {
  return 1e-9 * shape.flops() / seconds;
}

double gbytes(const ProductTiming& timing, model::Precision precision) {
  return 1e-9 * static_cast<double>(timing.shape.values()) * bytes_per_value(precision) / timing.seconds;
}

// --- JSON

void put(Json& json, const char* key, const std::optional<double>& value, double factor = 1) {
  if (value) json[key] = factor * *value;
}

Json run_json(const BenchReport& report, const BenchRow& row) {
  const PassTiming& timing = row.timing;
  Json json = {{"tokens", timing.tokens},
               {"repetitions", timing.repetitions},
               {"pass_ms", 1e3 * timing.pass},
               {"pass_all_logits_ms", 1e3 * timing.all_logits},
               {"pass_last_logits_ms", 1e3 * timing.last_logits},
               {"one_more_token_ms", 1e3 * timing.one_more}};
  put(json, "pass_all_maps_ms", timing.all_maps, 1e3);
  put(json, "pass_all_maps_all_logits_ms", timing.maps_and_logits, 1e3);
  put(json, "pass_of_products", of_products(report, row));
  put(json, "pass_of_limit", of_limit(report, row));
  json["pass_all_logits_of_peak_arithmetic"] = of_arithmetic(report, row);
  json["one_more_token_of_read_bandwidth"] = of_reading(report, row);
  put(json, "eigen_block_products_ms", blocks_by(report, row, &PeerTimes::eigen), 1e3);
  put(json, "openblas_block_products_ms", blocks_by(report, row, &PeerTimes::openblas), 1e3);
  return json;
}

Json product_json(const BenchReport& report, const ProductTiming& timing) {
  const ProductShape& shape = timing.shape;
  Json json = {{"matrix", timing.matrix},
               {"in", shape.in},
               {"out", shape.out},
               {"tokens", shape.rows},
               {"ms", 1e3 * timing.seconds},
               {"gflop_per_s", gflops(shape, timing.seconds)},
               {"read_gbyte_per_s", gbytes(timing, report.precision)},
               {"eigen_gflop_per_s", gflops(shape, timing.peers.eigen)}};
  if (timing.peers.openblas) json["openblas_gflop_per_s"] = gflops(shape, *timing.peers.openblas);
  json["of_faster_peer"] = timing.peers.fastest() / timing.seconds;
  json["of_limit"] = product_limit(shape, report.precision, report.limits) / timing.seconds;
  return json;
}

Json keystroke_json(const KeystrokeTiming& timing) {
  return {{"tokens", timing.tokens},
          {"at_the_end_ms", 1e3 * timing.at_the_end},
          {"at_the_end_longest_ms", 1e3 * timing.at_the_end_longest},
          {"at_the_start_ms", 1e3 * timing.at_the_start}};
}

// --- text

/// Right-aligned in `width` columns; empty where there is no value.
std::string number(int width, const std::optional<double>& value, const char* unit = "", int decimals = 1) {
  const int digits = width - static_cast<int>(std::string_view(unit).size());
  return value ? format("%*.*f%s", digits, decimals, *value, unit) : format("%*s", width, "");
}

std::string milliseconds(int width, const std::optional<double>& seconds) {
  return number(width, seconds ? std::optional(1e3 * *seconds) : std::nullopt, "", 3);
}

std::string percent(int width, const std::optional<double>& ratio) {
  return number(width, ratio ? std::optional(100 * *ratio) : std::nullopt, "%");
}

std::string passes_text(const BenchReport& report) {
  const bool maps = !report.rows.empty() && report.rows.front().timing.all_maps.has_value();
  std::string text = format("%6s %10s %11s %10s", "tokens", "pass", "last logits", "all logits");
  if (maps) text += format(" %10s %11s", "all maps", "maps+logits");
  text += format(" %9s %11s %8s %8s %8s %5s\n", "one more", "of products", "of limit", "of peak", "of read",
                 "runs");
  for (const BenchRow& row : report.rows) {
    const PassTiming& timing = row.timing;
    text += format("%6d ", timing.tokens) + milliseconds(10, timing.pass) + " " +
            milliseconds(11, timing.last_logits) + " " + milliseconds(10, timing.all_logits) + " ";
    if (maps)
      text += milliseconds(10, timing.all_maps) + " " + milliseconds(11, timing.maps_and_logits) + " ";
    text += milliseconds(9, timing.one_more) + " " + percent(11, of_products(report, row)) + " " +
            percent(8, of_limit(report, row)) + " " + percent(8, of_arithmetic(report, row)) + " " +
            percent(8, of_reading(report, row)) + format(" %5d\n", timing.repetitions);
  }
  return text;
}

std::string products_text(const BenchReport& report) {
  std::string text = "\nproducts with weights from memory, in GFLOP/s:\n" +
                     format("%6s  %-26s %10s %9s %9s %9s %10s %9s %9s\n", "tokens", "matrix", "ms", "ours",
                            "Eigen", "OpenBLAS", "of faster", "of limit", "GB/s");
  for (const ProductTiming& timing : report.products) {
    const ProductShape& shape = timing.shape;
    const std::string matrix = format("%s [%d, %d]", timing.matrix.c_str(), shape.in, shape.out);
    std::optional<double> openblas;
    if (timing.peers.openblas) openblas = gflops(shape, *timing.peers.openblas);
    text += format("%6d  %-26s ", shape.rows, matrix.c_str()) + milliseconds(10, timing.seconds) + " " +
            number(9, gflops(shape, timing.seconds)) + " " + number(9, gflops(shape, timing.peers.eigen)) +
            " " + number(9, openblas) + " " + percent(10, timing.peers.fastest() / timing.seconds) + " " +
            percent(9, product_limit(shape, report.precision, report.limits) / timing.seconds) + " " +
            number(9, gbytes(timing, report.precision)) + "\n";
  }
  return text;
}

std::string keystrokes_text(const BenchReport& report) {
  std::string text = "\nfrom a keystroke to the pictures of the window:\n" +
                     format("%6s %12s %12s %14s\n", "tokens", "at the end", "longest", "at the start");
  for (const KeystrokeTiming& timing : report.keystrokes) {
    text += format("%6d %12.3f %12.3f %14.3f\n", timing.tokens, 1e3 * timing.at_the_end,
                   1e3 * timing.at_the_end_longest, 1e3 * timing.at_the_start);
  }
  return text;
}

std::string peers_text(const BenchReport& report) {
  if (report.peers.empty()) return {};
  std::string text = "measured beside, in f32:";
  for (const std::string& peer : report.peers) text += (&peer == &report.peers.front() ? " " : ", ") + peer;
  const bool openblas =
      std::ranges::any_of(report.peers, [](const std::string& peer) { return peer.starts_with("OpenBLAS"); });
  if (!openblas) text += format("; OpenBLAS (%s) is not installed", OpenBlas::kLibrary);
  return text + "\n";
}

}  // namespace

nlohmann::ordered_json bench_json(const BenchReport& report) {
  Json json = {{"model", utf8_or_replacement(report.model)},
               {"threads", report.threads},
               {"precision", name_of(report.precision)},
               {"kernels", report.kernels},
               {"peers", report.peers},
               {"runs", Json::array()},
               {"peak_memory_bytes", report.peak_memory},
               {"machine",
                {{"gflop_per_s", report.limits.flops_per_second / 1e9},
                 {"read_gbyte_per_s", report.limits.bytes_per_second / 1e9}}}};
  for (const BenchRow& row : report.rows) json["runs"].push_back(run_json(report, row));
  for (const ProductTiming& timing : report.products)
    json["products"].push_back(product_json(report, timing));
  for (const KeystrokeTiming& timing : report.keystrokes) {
    json["keystroke_to_picture"].push_back(keystroke_json(timing));
  }
  return json;
}

std::string bench_text(const BenchReport& report) {
  std::string text = report.model + ", " + grouped(report.parameters) + " parameters, " +
                     name_of(report.precision) + ", " + std::to_string(report.threads) + " threads, " +
                     report.kernels + " loops; medians in milliseconds\n\n" + passes_text(report);
  if (!report.products.empty()) text += products_text(report);
  if (!report.keystrokes.empty()) text += keystrokes_text(report);
  text += format("\npeak memory %.1f MiB\n", report.peak_memory / (1 << 20));
  text += format("this machine, same threads: %.1f GFLOP/s multiply-add, %.1f GB/s read\n",
                 report.limits.flops_per_second / 1e9, report.limits.bytes_per_second / 1e9);
  text += peers_text(report);
  text +=
      "of products: the pass, if all of it went as fast as the faster peer's products\n"
      "of limit:    the pass, if the machine read the weights once or only calculated, whichever is longer\n"
      "of peak:     the pass with all logits, beside the multiply-adds alone\n"
      "of read:     one more token, beside reading weights, keys and values (small models stay in the "
      "caches)\n";
  return text;
}

}  // namespace headscope::app
