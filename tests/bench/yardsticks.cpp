#include "tests/bench/yardsticks.h"

#include <algorithm>
#include <functional>

#include "tests/bench/ratios.h"

namespace headscope::bench {
namespace {

using Json = nlohmann::ordered_json;

/// The time of one peer for the products of all blocks.
std::optional<double> blocks_by(const model::Config& config, const std::array<PeerTimes, 4>& peers,
                                const std::function<std::optional<double>(const PeerTimes&)>& peer) {
  double sum = 0;
  for (const PeerTimes& times : peers) {
    const std::optional<double> time = peer(times);
    if (!time) return std::nullopt;
    sum += config.n_layer * *time;
  }
  return sum;
}

void add_peers(const model::Config& config, const app::PassTiming& timing,
               const std::array<PeerTimes, 4>& peers, Json& json) {
  std::array<double, 4> fastest{};
  std::ranges::transform(peers, fastest.begin(), &PeerTimes::fastest);
  json["pass_of_products"] = pass_of_products(config, timing.tokens, fastest) / timing.pass;
  json["eigen_block_products_ms"] = 1e3 * *blocks_by(config, peers, &PeerTimes::eigen);
  if (const auto openblas = blocks_by(config, peers, &PeerTimes::openblas))
    json["openblas_block_products_ms"] = 1e3 * *openblas;
}

void add_ratios(const model::Config& config, model::Precision precision, const app::PassTiming& timing,
                const RowYardsticks& row, Json& json) {
  if (row.peers) add_peers(config, timing, *row.peers, json);
  if (row.head_sweep) {
    json["head_sweep_ms"] = 1e3 * *row.head_sweep;
    json["head_sweep_of_peak_arithmetic"] =
        limit(head_sweep_flops(config, timing.tokens), 0, row.limits) / *row.head_sweep;
  }
  if (row.head_sweep && row.heads_singly)
    json["heads_singly_over_sweep"] = *row.heads_singly / *row.head_sweep;
  if (timing.tokens < kTokensOfProducts)
    json["pass_of_limit"] = pass_limit(config, precision, timing.tokens, row.limits) / timing.pass;
  json["pass_all_logits_of_peak_arithmetic"] =
      all_logits_arithmetic(config, timing.tokens, row.limits) / timing.all_logits;
  json["one_more_token_of_read_bandwidth"] =
      one_more_reading(config, precision, timing.tokens, row.limits) / timing.next_token;
}

Json product_json(const ProductTiming& timing, model::Precision precision, const MachineLimits& limits) {
  const ProductShape& shape = timing.shape;
  const auto gflops = [&](double seconds) { return 1e-9 * shape.flops() / seconds; };
  const double bytes = static_cast<double>(shape.values()) * bytes_per_value(precision);
  Json json = {{"matrix", timing.matrix},
               {"in", shape.in},
               {"out", shape.out},
               {"tokens", shape.rows},
               {"ms", 1e3 * timing.seconds},
               {"gflop_per_s", gflops(timing.seconds)},
               {"read_gbyte_per_s", 1e-9 * bytes / timing.seconds},
               {"eigen_gflop_per_s", gflops(timing.peers.eigen)}};
  if (timing.peers.openblas) json["openblas_gflop_per_s"] = gflops(*timing.peers.openblas);
  json["of_faster_peer"] = timing.peers.fastest() / timing.seconds;
  json["of_limit"] = product_limit(shape, precision, limits) / timing.seconds;
  return json;
}

}  // namespace

nlohmann::ordered_json yardsticks_json(const app::BenchReport& report, const Yardsticks& yardsticks) {
  Json json = bench_json(report);
  MachineLimits best;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const RowYardsticks& row = yardsticks.rows.at(i);
    add_ratios(yardsticks.config, report.precision, report.rows[i], row, json["runs"][i]);
    best.flops_per_second = std::max(best.flops_per_second, row.limits.flops_per_second);
    best.bytes_per_second = std::max(best.bytes_per_second, row.limits.bytes_per_second);
  }
  json["peers"] = yardsticks.peers;
  json["machine"] = {{"gflop_per_s", best.flops_per_second / 1e9},
                     {"read_gbyte_per_s", best.bytes_per_second / 1e9}};
  for (const ProductTiming& timing : yardsticks.products)
    json["products"].push_back(product_json(timing, report.precision, best));
  return json;
}

}  // namespace headscope::bench
