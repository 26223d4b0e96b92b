#include "tests/bench/machine_limits.h"

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "model/kernels/arena.h"

namespace headscope::bench {
namespace {

using Clock = std::chrono::steady_clock;

template <std::size_t bytes>
struct VectorOf {
  using Type [[gnu::vector_size(bytes)]] = float;
};

/// Keeps the compiler from removing unused results.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "m"(value) : "memory");
}

/// The best rate of several rounds in which all threads start together, in units per second, summed over
/// threads.
double best_rate(int threads, int rounds, double units_per_thread,
                 const std::function<void(int thread)>& work) {
  double best = 0;
  std::barrier start(threads);
  std::barrier end(threads);
  const auto run = [&](int thread) {
    for (int round = 0; round < rounds; ++round) {
      start.arrive_and_wait();
      const auto before = Clock::now();
      work(thread);
      end.arrive_and_wait();
      const double seconds = std::chrono::duration<double>(Clock::now() - before).count();
      if (thread == 0) best = std::max(best, units_per_thread * threads / seconds);
    }
  };
  std::vector<std::jthread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
  run(0);
  return best;
}

constexpr int kChains = 12;  // enough to hide the latency of four cycles in two units

// Chains of multiply-adds in registers of `bytes` bytes, for the processors named by the attribute. The
// starting value of every chain is read each time, because the compiler merges chains known to be equal. A
// macro instead of a template, because GCC splits vectors according to the function's own target before
// inlining.
#define HEADSCOPE_MULTIPLY_ADDS(name, bytes, attribute)    \
  attribute void name(int steps) {                         \
    using Vector = VectorOf<bytes>::Type;                  \
    const volatile float start = 1.5F;                     \
    Vector sums[kChains];                                  \
    for (Vector & sum : sums) sum = Vector{} + start;      \
    const Vector factor = Vector{} + 0.999999F;            \
    const Vector term = Vector{} + 1e-6F;                  \
    for (int step = 0; step < steps; ++step) {             \
      for (Vector & sum : sums) sum = sum * factor + term; \
    }                                                      \
    Vector total{};                                        \
    for (const Vector& sum : sums) total += sum;           \
    keep(total);                                           \
  }

HEADSCOPE_MULTIPLY_ADDS(multiply_adds_of_16_bytes, 16, )
#ifdef __x86_64__
HEADSCOPE_MULTIPLY_ADDS(multiply_adds_of_32_bytes, 32, [[gnu::target("avx2,fma")]])
HEADSCOPE_MULTIPLY_ADDS(multiply_adds_of_64_bytes, 64, [[gnu::target("avx512f")]])
#endif

struct MultiplyAdds {
  void (*run)(int steps) = nullptr;
  int lanes = 0;
};

/// The widest version that this processor supports, regardless of the program's target.
MultiplyAdds widest_multiply_adds() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return {multiply_adds_of_64_bytes, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {multiply_adds_of_32_bytes, 8};
#endif
  return {multiply_adds_of_16_bytes, 4};
}

double measure_flops(int threads) {
  constexpr int kSteps = 4'000'000;
  const MultiplyAdds widest = widest_multiply_adds();
  return best_rate(threads, 10, 2.0 * widest.lanes * kChains * kSteps, [&](int) { widest.run(kSteps); });
}

using Block = std::array<VectorOf<16>::Type, 8>;  // wider vectors are not faster when memory is the limit

/// Reads all blocks as several interleaved streams.
template <std::size_t streams>
Block sum_of_streams(std::span<const Block> blocks) {
  const std::size_t length = blocks.size() / streams;
  Block sums{};
  for (std::size_t at = 0; at < length; ++at) {
    for (std::size_t stream = 0; stream < streams; ++stream) {
      const Block& block = blocks[stream * length + at];
      for (std::size_t i = 0; i < block.size(); ++i) sums[i] += block[i];
    }
  }
  return sums;
}

double measure_bandwidth(int threads) {
  constexpr std::size_t kStreams = 6;  // a single stream reached two thirds of the rate
  constexpr std::size_t kBytes = std::size_t{512} << 20;
  const std::size_t share = kBytes / static_cast<std::size_t>(threads) / sizeof(Block) / kStreams * kStreams;
  std::vector<std::unique_ptr<model::Arena>> memory(
      static_cast<std::size_t>(threads));  // allocated like the weights
  std::vector<std::span<Block>> pieces(memory.size());
  const auto work = [&](int thread) {
    const auto index = static_cast<std::size_t>(thread);
    if (!memory[index]) {  // first touched by the thread that reads it
      memory[index] = std::make_unique<model::Arena>(share * sizeof(Block));
      pieces[index] = {reinterpret_cast<Block*>(memory[index]->take(share * sizeof(Block))), share};
      std::ranges::fill(pieces[index], Block{});
    }
    keep(sum_of_streams<kStreams>(pieces[index]));
  };
  return best_rate(threads, 8, static_cast<double>(share * sizeof(Block)), work);
}

}  // namespace

MachineLimits measure_machine_limits(int threads) {
  return {measure_flops(threads), measure_bandwidth(threads)};
}

}  // namespace headscope::bench
