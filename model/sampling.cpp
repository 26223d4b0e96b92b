#include "model/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/error.h"

namespace headscope::model {
namespace {

// A number in [0, 1), the same from the same generator everywhere: 53 of its bits, which is what a double
// holds.
double uniform(std::mt19937_64& generator) {
  return static_cast<double>(generator() >> 11) * 0x1p-53;
}

}  // namespace

void softmax(std::span<const float> logits, double temperature, std::span<double> out) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  float largest = kLowest;
  std::size_t best = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i])) {
      std::fill(out.begin(), out.end(), std::numeric_limits<double>::quiet_NaN());
      return;
    }
    if (logits[i] > largest) {
      largest = logits[i];
      best = i;
    }
  }
  if (largest == kLowest) {  // nothing says what is likely
    std::fill(out.begin(), out.end(), 1.0 / static_cast<double>(out.size()));
    return;
  }
  if (!(temperature > 0)) {
    std::fill(out.begin(), out.end(), 0.0);
    out[best] = 1;
    return;
  }
  double sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    // Equal to the largest: exactly 0, also where both are infinite.
    const double below =
        logits[i] == largest ? 0.0 : (static_cast<double>(logits[i]) - largest) / temperature;
    out[i] = std::isnan(below) ? 0.0 : std::exp(below);
    sum += out[i];
  }
  for (double& probability : out) probability /= sum;
}

Sampler::Sampler(SamplingOptions options, std::uint64_t seed) : options_(options), generator_(seed) {}

int Sampler::draw(std::span<const float> logits) {
  probabilities_.resize(logits.size());
  softmax(logits, options_.temperature, probabilities_);
  const double random = uniform(generator_);
  if (std::isnan(probabilities_.front())) {
    throw RunError("no next token can be drawn: there are logits that are not a number (NaN)");
  }

  // A heap gives the tokens from the most probable down, and no more of them than are looked at.
  const auto less_likely = [&](int a, int b) {
    return probabilities_[a] != probabilities_[b] ? probabilities_[a] < probabilities_[b] : a > b;
  };
  order_.resize(logits.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::make_heap(order_.begin(), order_.end(), less_likely);
  std::size_t taken = 0;  // they stand at the end of order_, the most probable last
  double mass = 0;        // their probability together
  const auto take = [&] {
    std::pop_heap(order_.begin(), order_.end() - static_cast<std::ptrdiff_t>(taken), less_likely);
    ++taken;
    const int id = order_[order_.size() - taken];
    mass += probabilities_[id];
    return id;
  };

  const std::size_t most =
      options_.top_k > 0 ? std::min(order_.size(), static_cast<std::size_t>(options_.top_k)) : order_.size();
  if (most == order_.size() && !(options_.top_p < 1)) {
    int id = take();
    while (mass <= random && taken < most) {
      const int next = take();
      if (probabilities_[next] == 0) break;  // rounding kept the sum below the random number
      id = next;
    }
    return id;
  }
  take();
  while (taken < most && mass < options_.top_p) take();
  const double target = random * mass;
  double passed = 0;
  int id = 0;
  for (std::size_t rank = 1; rank <= taken; ++rank) {
    const int next = order_[order_.size() - rank];
    if (probabilities_[next] == 0) break;
    id = next;
    passed += probabilities_[id];
    if (passed > target) break;
  }
  return id;
}

}  // namespace headscope::model
