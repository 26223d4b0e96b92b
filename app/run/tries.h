#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace headscope::app {

/// A way that somebody took on from a prompt, by choosing tokens or having them drawn.
struct Tried {
  std::vector<int> ids;               ///< from the prompt's first token on
  int begun = 0;                      ///< how many of them were there before
  std::vector<double> probabilities;  ///< [ids - begun]: what the model gave each; NaN: not known
  bool operator==(const Tried&) const = default;
};

/// What was tried, the newest last. None is the beginning of another.
using Tries = std::vector<Tried>;
constexpr std::size_t kMostTries = 100;  ///< the oldest are forgotten

/// Remembers that a prompt of the tokens `before` became `now`, whose last tokens had these probabilities.
/// What `now` leaves out of `before` is remembered, too, so that somebody can go back to it; where both have
/// no token in common, they have nothing to do with each other.
Tries with_step(Tries tries, std::span<const int> before, std::span<const int> now,
                std::span<const double> probabilities);

/// Those that went on from a prompt that begins like this one.
std::vector<const Tried*> tries_of(const Tries& tries, std::span<const int> prompt);

/// Tokens that both begin with.
int common_tokens(std::span<const int> a, std::span<const int> b);

}  // namespace headscope::app
