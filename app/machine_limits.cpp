#include "app/machine_limits.h"

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace headscope::app {
namespace {

using Clock = std::chrono::steady_clock;

// The width of the processor's registers; GCC splits the vectors where they are narrower.
#ifdef __AVX512F__
constexpr std::size_t kVectorBytes = 64;
#else
constexpr std::size_t kVectorBytes = 32;
#endif
using Vector [[gnu::vector_size(kVectorBytes)]] = float;
constexpr int kLanes = kVectorBytes / sizeof(float);

/// Keeps the compiler from leaving out what nobody reads.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "m"(value) : "memory");
}

/// The best of some rounds in which all threads start together, in units per second of all of them.
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

double measure_flops(int threads) {
  constexpr int kChains = 12;  // enough to fill two units of four cycles' latency
  constexpr int kSteps = 4'000'000;
  const auto work = [](int) {
    std::array<Vector, kChains> sums{};
    const Vector factor = Vector{} + 0.999999F;
    const Vector term = Vector{} + 1e-6F;
    for (int step = 0; step < kSteps; ++step) {
      for (Vector& sum : sums) sum = sum * factor + term;
    }
    keep(sums);
  };
  return best_rate(threads, 5, 2.0 * kLanes * kChains * kSteps, work);
}

double measure_bandwidth(int threads) {
  using Block = std::array<Vector, 8>;
  constexpr std::size_t kBytes = std::size_t{512} << 20;
  const std::size_t share = kBytes / static_cast<std::size_t>(threads) / sizeof(Block);
  std::vector<std::vector<Block>> memory(static_cast<std::size_t>(threads));
  const auto work = [&](int thread) {
    std::vector<Block>& mine = memory[static_cast<std::size_t>(thread)];
    if (mine.empty()) mine.resize(share);  // by the thread that reads it
    Block sums{};
    for (const Block& block : mine) {
      for (std::size_t i = 0; i < block.size(); ++i) sums[i] += block[i];
    }
    keep(sums);
  };
  return best_rate(threads, 5, static_cast<double>(share * sizeof(Block)), work);
}

}  // namespace

MachineLimits measure_machine_limits(int threads) {
  return {measure_flops(threads), measure_bandwidth(threads)};
}

double peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

}  // namespace headscope::app
