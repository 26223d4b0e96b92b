// The steps of a pass between its products, on one thread with everything in the caches, and the statistics
// of a block of positions. Each is compared, measured in turn, with:
//
//     of_plain    our speed, relative to the obvious code: standard functions in loops, Eigen for attention
//     of_product  the speed of the statistics, relative to computing the same logits and ignoring them
#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "model/kernels/arena.h"
#include "model/kernels/eigen_maps.h"
#include "model/kernels/kernels.h"
#include "model/kernels/product.h"
#include "model/pass/attention.h"
#include "model/pass/statistics.h"
#include "tests/bench/products.h"
#include "tests/bench/stopwatch.h"

namespace headscope::model {
namespace {

using app::median;
using app::seconds;
using bench::some_activations;

/// Runs two functions in turn; `ratio` is the second's median time divided by the first's.
template <class Ours, class Other>
double measure_in_turn(benchmark::State& state, const char* ratio, const Ours& ours, const Other& other) {
  std::vector<double> our_times, other_times;
  for (auto _ : state) {
    our_times.push_back(seconds(ours));
    state.SetIterationTime(our_times.back());
    other_times.push_back(seconds(other));
  }
  const double time = median(our_times);
  state.counters[ratio] = median(other_times) / time;
  return time;
}

/// The same for steps that modify rows in place; both timings include copying the rows first.
template <class Ours, class Other>
void rows_in_turn(benchmark::State& state, int rows, int cols, const Ours& ours, const Other& other) {
  const std::vector<float> values =
      some_activations(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
  std::vector<float> changed(values.size());
  const auto each_row = [&](const auto& step) {
    std::ranges::copy(values, changed.begin());
    const FloatRows all{changed.data(), rows, cols, cols};
    for (int i = 0; i < rows; ++i) step(all.row(i));
    benchmark::DoNotOptimize(changed.data());
    benchmark::ClobberMemory();
  };
  const double time = measure_in_turn(
      state, "of_plain", [&] { each_row(ours); }, [&] { each_row(other); });
  state.counters["cells/s"] = static_cast<double>(values.size()) / time;
}

constexpr int kRows = 64, kWidth = 768;

void softmax_of_rows(benchmark::State& state) {
  const auto plain = [](std::span<float> row) {
    const float most = *std::ranges::max_element(row);
    double sum = 0;
    for (float& x : row) sum += x = std::exp(x - most);
    for (float& x : row) x = static_cast<float>(x / sum);
  };
  rows_in_turn(
      state, kRows, static_cast<int>(state.range(0)),
      [](std::span<float> row) { softmax(fastest_kernels().rows, row); }, plain);
}

void layer_norm(benchmark::State& state) {
  const std::vector<float> gain(kWidth, 0.9F), bias(kWidth, 0.1F);
  const auto ours = [&](std::span<float> row) {
    divide(row, center(row, 1e-5F, row));
    apply_gain_and_bias(gain, bias, row);
  };
  const auto plain = [&](std::span<float> row) {
    const double n = static_cast<double>(row.size());
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / n;
    double squares = 0;
    for (const float x : row) squares += (x - mean) * (x - mean);
    const double scale = std::sqrt(squares / n + 1e-5);
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = static_cast<float>((row[i] - mean) / scale) * gain[i] + bias[i];
    }
  };
  rows_in_turn(state, kRows, kWidth, ours, plain);
}

void gelu(benchmark::State& state) {
  const auto plain = [](std::span<float> row) {
    for (float& x : row) x = 0.5F * x * (1 + std::tanh(0.7978845608F * (x + 0.044715F * x * x * x)));
  };
  rows_in_turn(
      state, kRows, 4 * kWidth,
      [](std::span<float> row) { activate(fastest_kernels().rows, Activation::gelu_new, row); }, plain);
}

/// A run of `length` tokens with made-up numbers in its pages.
Run made_up_run(const Config& config, int length) {
  Run run;
  run.config = config;
  run.tokens.resize(length);
  for (int i = 0; i < length; ++i) run.tokens[i] = i % config.vocab_size;
  for (int first = 0; first < length; first += Page::kPositions) {
    const auto page = std::make_shared<const Page>(config, first);
    const std::vector<float> values = some_activations(page->bytes() / sizeof(float));
    std::ranges::copy(values, page->claim(0, Page::kPositions)->q(0, 0));  // the start of a page
    run.pages.push_back(page);
  }
  return run;
}

Config made_up_config(int heads, int vocabulary) {
  Config config;
  config.n_layer = 1;
  config.n_head = heads;
  config.n_embd = 64 * heads;
  config.n_inner = 4 * config.n_embd;
  config.n_ctx = 1024;
  config.vocab_size = vocabulary;
  return config;
}

/// The last 64 queries of one head's T, from scores to z; range: T, a multiple of 64.
void attention_of_a_block(benchmark::State& state) {
  const auto length = static_cast<int>(state.range(0)), first = length - kRows;
  const Run run = made_up_run(made_up_config(1, 64), length);
  const HeadCache head = head_of(run.config, run.pages, 0, 0);
  const PanelKernels kernels = fastest_kernels();
  const float scale = run.config.attention_scale(0);
  RowMajor<float> scores(kRows, length), z(kRows, head.d_head), keys(length, head.d_head),
      values(length, head.d_head);
  for (int page = 0; page < length / kRows; ++page) {
    keys.middleRows(page * kRows, kRows) = map(head.k(page, kRows)).transpose();
    values.middleRows(page * kRows, kRows) = map(head.v(page, kRows));
  }
  const ConstFloatRows queries = head.q(first / kRows, kRows);
  const FloatRows score_rows{scores.data(), kRows, length, length};
  const FloatRows z_rows{z.data(), kRows, head.d_head, head.d_head};
  const auto ours = [&] {
    score(kernels, head, queries, score_rows);
    pattern_of_scores(kernels, scale, first, score_rows);
    weigh_values(kernels, head, score_rows, z_rows);
    benchmark::ClobberMemory();
  };
  const auto plain = [&] {
    scores.noalias() = map(queries) * keys.transpose();
    for (int i = 0; i < kRows; ++i) {
      const int seen = first + i + 1;
      auto row = scores.row(i).array();
      row.tail(length - seen) = 0;
      row.head(seen) = ((row.head(seen) - row.head(seen).maxCoeff()) * scale).exp();
      row.head(seen) /= row.head(seen).sum();
    }
    z.noalias() = scores * values;
    benchmark::ClobberMemory();
  };
  const double time = measure_in_turn(state, "of_plain", ours, plain);
  state.counters["GFLOP/s"] = 4e-9 * kRows * length * head.d_head / time;
}

/// The statistics of T positions over GPT-2's vocabulary, on all threads; range: T.
void statistics_of_positions(benchmark::State& state) {
  const auto length = static_cast<int>(state.range(0));
  Weights weights;
  weights.config = made_up_config(12, 50257);
  const Run run = made_up_run(weights.config, length);
  const int width = weights.config.n_embd, vocabulary = weights.config.vocab_size;
  const std::vector<float> gain(static_cast<std::size_t>(width), 1.0F), bias(static_cast<std::size_t>(width));
  weights.ln_f = {gain, bias};
  Workspace workspace(0);
  Workers& workers = workspace.impl().workers;
  const std::size_t bytes = panel_matrix_bytes(width, vocabulary, Precision::f32);
  Arena arena(bytes);
  {
    const std::vector<float> source =
        some_activations(static_cast<std::size_t>(width) * static_cast<std::size_t>(vocabulary));
    ThreadPool pool(0);
    weights.lm_head = pack({source.data(), Precision::f32, true}, width, vocabulary, Precision::f32,
                           arena.take(bytes), pool);
  }
  const std::vector<float> x =
      some_activations(static_cast<std::size_t>(length) * static_cast<std::size_t>(width));
  std::vector<float> logits(static_cast<std::size_t>(length) * static_cast<std::size_t>(vocabulary));
  measure_in_turn(
      state, "of_product",
      [&] {
        benchmark::DoNotOptimize(compute_statistics(weights, run, 0, length, 10, workspace.impl(), {}));
      },
      [&] {
        product_with_columns({x.data(), length, width, width}, weights.lm_head, 0, workers,
                             {logits.data(), length, vocabulary, vocabulary});
      });
}

void timed(benchmark::internal::Benchmark* b) {
  b->UseManualTime()->Unit(benchmark::kMicrosecond);
}

BENCHMARK(softmax_of_rows)->Apply(timed)->ArgName("n")->Arg(64)->Arg(256)->Arg(1024);
BENCHMARK(layer_norm)->Apply(timed);
BENCHMARK(gelu)->Apply(timed);
BENCHMARK(attention_of_a_block)->Apply(timed)->ArgName("T")->Arg(64)->Arg(256)->Arg(1024);
BENCHMARK(statistics_of_positions)->Apply(timed)->ArgName("T")->Arg(16)->Arg(128)->Arg(512);

}  // namespace
}  // namespace headscope::model
