#include "model/tokens/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/files/error.h"

namespace headscope::model {

std::vector<double> softmax(std::span<const float> logits, double temperature) {
  if (std::ranges::any_of(logits, [](float logit) { return std::isnan(logit); }))
    return std::vector<double>(logits.size(), std::numeric_limits<double>::quiet_NaN());
  const auto best = std::ranges::max_element(logits);
  const float largest = *best;
  if (largest == -std::numeric_limits<float>::infinity())  // as all logits are
    return std::vector<double>(logits.size(), 1.0 / static_cast<double>(logits.size()));
  std::vector<double> out(logits.size());
  if (!(temperature > 0)) {
    out[static_cast<std::size_t>(best - logits.begin())] = 1;
    return out;
  }
  double sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    // For the largest logit exactly 0, even if it is infinite.
    const double below =
        logits[i] == largest ? 0.0 : (static_cast<double>(logits[i]) - largest) / temperature;
    out[i] = std::isnan(below) ? 0.0 : std::exp(below);
    sum += out[i];
  }
  for (double& probability : out) probability /= sum;
  return out;
}

Candidates::Candidates(std::span<const float> logits, const SamplingOptions& options)
    : probabilities_(softmax(logits, options.temperature)), order_(logits.size()) {
  if (std::isnan(probabilities_.front())) throw RunError("cannot sample a next token: some logits are NaN");
  std::iota(order_.begin(), order_.end(), 0);
  const int all = static_cast<int>(logits.size());
  top_k_ = options.top_k > 0 ? std::min(options.top_k, all) : all;
  kept_ = top_k_;
  if (kept_ == all && !(options.top_p < 1)) return;  // nothing is removed, so nothing needs to be sorted
  double left = 1;                                   // probability left by top-k, of the whole vocabulary
  if (top_k_ < all) {
    left = 0;
    for (int rank = 0; rank < top_k_; ++rank) left += of_rank(rank);
  }
  const double enough = options.top_p < 1 ? options.top_p * left : std::numeric_limits<double>::infinity();
  mass_ = of_rank(0);
  for (kept_ = 1; kept_ < top_k_ && mass_ < enough; ++kept_) mass_ += of_rank(kept_);
}

int Candidates::best(int rank) {
  if (rank >= sorted_) {
    constexpr int kFirst = 64;  // most draws need no more
    const auto is_likelier = [&](int a, int b) {
      const double pa = probabilities_[a], pb = probabilities_[b];
      return pa != pb ? pa > pb : a < b;
    };
    const auto from = order_.begin() + sorted_;
    sorted_ = std::min(std::max(4 * rank, kFirst), static_cast<int>(order_.size()));
    const auto to = order_.begin() + sorted_;
    std::nth_element(from, to, order_.end(), is_likelier);
    std::sort(from, to, is_likelier);
  }
  return order_[rank];
}

int Candidates::draw(double number) {
  const double target = number * mass_;
  int rank = 0;
  double passed = of_rank(0);
  // Because of rounding, the sum may stay below the target; tokens of probability 0 are not drawn even then.
  while (passed <= target && rank + 1 < kept_ && of_rank(rank + 1) > 0) passed += of_rank(++rank);
  return rank;
}

int draw_token(std::span<const float> logits, const SamplingOptions& options, std::uint64_t seed,
               int position) {
  Candidates candidates(logits, options);
  return candidates.best(candidates.draw(RandomNumbers(seed, position).next()));
}

}  // namespace headscope::model
