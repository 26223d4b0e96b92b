#pragma once
#include <algorithm>
#include <chrono>
#include <iterator>
#include <vector>

namespace headscope::app {

/// The time that `work` takes, in seconds.
template <class Work>
double seconds(const Work& work) {
  const auto before = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
}

/// The median; the upper one of an even number of values.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Median time of `work` in seconds: after one warm-up call, at least 5 calls, until 0.15 s or 200 calls.
template <class Work>
double median_seconds(const Work& work) {
  constexpr double kEnough = 0.15;
  std::vector<double> times;
  work();
  for (double all = 0; times.size() < 5 || (all < kEnough && times.size() < 200); all += times.back())
    times.push_back(seconds(work));
  return median(std::move(times));
}

}  // namespace headscope::app
