// Matrix products with weights that are read from memory, as in a pass: a row for each prompt length,
// compared with the following, measured in the same run:
//
//     of_eigen    our speed, relative to Eigen's product in float32, its columns divided by hand
//     of_reading  our speed, relative to only reading the weights
//
// Also prints GFLOP/s and GB/s of weights.
#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "tests/bench/products.h"
#include "tests/bench/rotating_weights.h"
#include "tests/bench/stopwatch.h"

namespace headscope {
namespace {

using app::median;
using app::seconds;
using bench::Operands;
using bench::ProductShape;
using model::Precision;

/// Every thread reads parts of the matrix as several interleaved streams.
void read_all(const std::byte* matrix, std::size_t bytes, model::Workers& workers) {
  constexpr std::size_t kPiece = std::size_t{256} << 10, kStreams = 4;
  workers.parallel_for(static_cast<int>((bytes + kPiece - 1) / kPiece), [&](int piece, float*) {
    const std::size_t first = static_cast<std::size_t>(piece) * kPiece;
    const auto* data = reinterpret_cast<const float*>(matrix + first);
    const auto stride = static_cast<Eigen::Index>(std::min(kPiece, bytes - first) / sizeof(float) / kStreams);
    const auto stream = [&](int i) { return Eigen::Map<const Eigen::ArrayXf>(data + i * stride, stride); };
    benchmark::DoNotOptimize((stream(0) + stream(1) + stream(2) + stream(3)).sum());
  });
}

/// state.range: T, in, out, threads (0: all).
void product(benchmark::State& state, bool unembedding, Precision precision) {
  const ProductShape shape{static_cast<int>(state.range(0)), static_cast<int>(state.range(1)),
                           static_cast<int>(state.range(2)), unembedding};
  model::Workers workers(static_cast<int>(state.range(3)));
  bench::RotatingWeights weights(shape.values() * sizeof(float));
  const std::size_t bytes = model::panel_matrix_bytes(shape.in, shape.out, precision);
  const Operands o(shape);
  std::vector<double> ours, eigen, reading;
  for (auto _ : state) {
    const model::PanelMatrix w{weights.next(bytes), shape.in, shape.out, precision};
    ours.push_back(seconds([&] { bench::own_product(o, w, shape, workers); }));
    state.SetIterationTime(ours.back());
    const std::byte* read = weights.next(bytes);
    reading.push_back(seconds([&] { read_all(read, bytes, workers); }));
    const auto* other = reinterpret_cast<const float*>(weights.next(shape.values() * sizeof(float)));
    eigen.push_back(seconds([&] { bench::eigen_product(o.x(), other, shape, workers, o.y()); }));
  }
  const double time = median(ours);
  state.counters["GFLOP/s"] = 1e-9 * shape.flops() / time;
  state.counters["GB/s"] = 1e-9 * static_cast<double>(bytes) / time;
  state.counters["of_reading"] = median(reading) / time;
  state.counters["of_eigen"] = median(eigen) / time;
}

void lengths(benchmark::internal::Benchmark* b) {
  b->ArgNames({"T", "in", "out", "threads"})->UseManualTime()->Unit(benchmark::kMicrosecond);
}

void of_a_block(benchmark::internal::Benchmark* b) {
  lengths(b);
  for (const int rows : {1, 2, 4, 8, 16, 32, 64, 256, 1024}) b->Args({rows, 768, 3072, 0});
}

void of_the_vocabulary(benchmark::internal::Benchmark* b) {
  lengths(b);
  for (const int rows : {1, 16, 64, 256}) b->Args({rows, 768, 50257, 0});
}

BENCHMARK_CAPTURE(product, linear_f32, false, Precision::f32)->Apply(of_a_block);
BENCHMARK_CAPTURE(product, linear_f16, false, Precision::f16)->Apply(of_a_block);
BENCHMARK_CAPTURE(product, linear_bf16, false, Precision::bf16)->Apply(of_a_block);
BENCHMARK_CAPTURE(product, unembedding_f32, true, Precision::f32)->Apply(of_the_vocabulary);
BENCHMARK_CAPTURE(product, unembedding_f16, true, Precision::f16)->Apply(of_the_vocabulary);
BENCHMARK_CAPTURE(product, unembedding_bf16, true, Precision::bf16)->Apply(of_the_vocabulary);

}  // namespace
}  // namespace headscope
