// Products with weights that come from memory, as they do in a pass: a row for every length of prompt, and
// beside it, measured in turn with it in the same run, what the same machine does otherwise:
//   of_eigen    our speed to that of Eigen's product, its columns shared out to the threads by hand
//   of_reading  our speed to that of reading the weights and doing nothing with them (1: no product is
//   faster) GFLOP/s, GB/s of weights
#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "model/eigen_maps.h"
#include "model/product.h"

namespace headscope::model {
namespace {

constexpr std::size_t kWeightBytes = std::size_t{420} << 20;  // more than any cache holds

enum class Layout { in_out, out_in };

/// Matrices [in, out] or [out, in] of 16 or 32 bits a number; all that matters of the numbers is that none is
/// denormal.
class RotatingWeights {
 public:
  RotatingWeights(int in, int out, Layout layout, Precision precision)
      : in_(in), out_(out), layout_(layout), precision_(precision) {
    const std::size_t elements = static_cast<std::size_t>(in) * static_cast<std::size_t>(out);
    matrix_bytes_ = elements * (precision == Precision::f32 ? 4 : 2);
    count_ = kWeightBytes / matrix_bytes_;
    memory_.assign(count_ * matrix_bytes_ / 4, 0x3c003c00U);
  }
  std::size_t matrix_bytes() const { return matrix_bytes_; }
  WeightMatrix next() {
    next_ = (next_ + 1) % count_;
    const auto* data = reinterpret_cast<const char*>(memory_.data()) + next_ * matrix_bytes_;
    if (layout_ == Layout::in_out) return {data, in_, out_, precision_};
    return {data, out_, in_, precision_};
  }

 private:
  int in_, out_;
  Layout layout_;
  Precision precision_;
  std::size_t matrix_bytes_ = 0, count_ = 0, next_ = 0;
  std::vector<std::uint32_t> memory_;
};

double seconds(const std::function<void()>& work) {
  const auto before = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void eigen_product(ConstFloatRows x, const WeightMatrix& w, Layout layout, Workers& workers, FloatRows y) {
  const int width = x.rows == 1 ? 384 : 192;
  const ConstFloatRows weights{static_cast<const float*>(w.data), w.rows, w.cols, w.cols};
  workers.parallel_for((y.cols + width - 1) / width, [&](int block, Buffer&) {
    const int col = block * width, cols = std::min(width, y.cols - col);
    if (layout == Layout::in_out) {
      map(y.middle_cols(col, cols)).noalias() = map(x) * map(weights.middle_cols(col, cols));
    } else {
      map(y.middle_cols(col, cols)).noalias() = map(x) * map(weights.middle_rows(col, cols)).transpose();
    }
  });
}

void read_all(const WeightMatrix& w, std::size_t bytes, Workers& workers) {
  constexpr std::size_t kPiece = std::size_t{256} << 10;
  workers.parallel_for(static_cast<int>((bytes + kPiece - 1) / kPiece), [&](int piece, Buffer&) {
    const std::size_t first = static_cast<std::size_t>(piece) * kPiece;
    const auto* data = reinterpret_cast<const float*>(static_cast<const char*>(w.data) + first);
    const auto n = static_cast<Eigen::Index>(std::min(kPiece, bytes - first) / sizeof(float));
    benchmark::DoNotOptimize(Eigen::Map<const Eigen::ArrayXf>(data, n).maxCoeff());
  });
}

/// state.range: T, in, out, threads (0: all).
void product(benchmark::State& state, Layout layout, Precision precision) {
  const auto rows = static_cast<int>(state.range(0)), in = static_cast<int>(state.range(1)),
             out = static_cast<int>(state.range(2));
  Workers workers(static_cast<int>(state.range(3)));
  RotatingWeights weights(in, out, layout, precision);
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> x(static_cast<std::size_t>(rows) * static_cast<std::size_t>(in));
  std::generate(x.begin(), x.end(), [&] { return uniform(generator); });
  const std::vector<float> bias(static_cast<std::size_t>(out));
  std::vector<float> y(static_cast<std::size_t>(rows) * static_cast<std::size_t>(out));
  const ConstFloatRows x_rows{x.data(), rows, in, in};
  const FloatRows y_rows{y.data(), rows, out, out};

  std::vector<double> ours, eigen, reading;
  for (auto _ : state) {
    const WeightMatrix w = weights.next();
    ours.push_back(seconds([&] {
      if (layout == Layout::in_out) {
        linear(x_rows, {w, bias}, workers, y_rows);
      } else {
        product_with_rows(x_rows, w, 0, workers, y_rows);
      }
    }));
    state.SetIterationTime(ours.back());
    reading.push_back(seconds([&] { read_all(weights.next(), weights.matrix_bytes(), workers); }));
    if (precision != Precision::f32) continue;
    const WeightMatrix other = weights.next();
    eigen.push_back(seconds([&] { eigen_product(x_rows, other, layout, workers, y_rows); }));
  }
  const double time = median(ours);
  state.counters["GFLOP/s"] = 2e-9 * rows * in * out / time;
  state.counters["GB/s"] = 1e-9 * static_cast<double>(weights.matrix_bytes()) / time;
  state.counters["of_reading"] = median(reading) / time;
  if (!eigen.empty()) state.counters["of_eigen"] = median(eigen) / time;
}

void shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"T", "in", "out", "threads"})->UseManualTime()->Unit(benchmark::kMicrosecond);
  for (const int rows : {1, 2, 4, 8, 16, 32, 64, 256, 1024}) b->Args({rows, 768, 3072, 0});
}

BENCHMARK_CAPTURE(product, linear_f32, Layout::in_out, Precision::f32)->Apply(shapes);
BENCHMARK_CAPTURE(product, linear_f16, Layout::in_out, Precision::f16)->Apply(shapes);
BENCHMARK_CAPTURE(product, linear_bf16, Layout::in_out, Precision::bf16)->Apply(shapes);
BENCHMARK_CAPTURE(product, unembedding_f32, Layout::out_in, Precision::f32)->Apply(shapes);
BENCHMARK_CAPTURE(product, unembedding_bf16, Layout::out_in, Precision::bf16)->Apply(shapes);

}  // namespace
}  // namespace headscope::model
