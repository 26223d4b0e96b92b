#pragma once
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "app/run/question.h"

namespace headscope::app {

/// The prediction after one position.
struct NextToken {
  int position = 0;
  std::vector<float> logits;  ///< logits of the whole vocabulary
  std::string not_finite;     ///< set if the run or these logits are not finite, see not_finite_note
  std::size_t bytes() const { return bytes_of(logits) + not_finite.size(); }
};

/// Kullback-Leibler divergence KL(p
///
/// q) of two distributions over the same tokens, in nats. Infinite where q is 0 and p is not.
double divergence(std::span<const double> p, std::span<const double> q);
/// Nats as bits, the unit of all information that is shown, such as losses and entropies.
inline double bits(double nats) {
  return nats * std::numbers::log2e;
}

struct NextAfter {
  using Answer = NextToken;
  static constexpr std::string_view kName = "next token";
  static constexpr bool kQuick = true;
  int position = -1;  ///< -1, or beyond the run: the last position
  bool operator==(const NextAfter&) const = default;
  NextToken compute(const PromptRun& run, const Computation<NextToken>& computation) const;
};

}  // namespace headscope::app
