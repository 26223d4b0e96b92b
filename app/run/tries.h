#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace headscope::app {

/// A tried continuation of a prompt, whose tokens were chosen or drawn.
struct TriedText {
  std::vector<int> ids;               ///< from the prompt's first token on
  std::vector<double> probabilities;  ///< the unedited model's, of the last ids; NaN: not known
  /// The number of ids that were already in the prompt.
  int start() const { return static_cast<int>(std::ssize(ids) - std::ssize(probabilities)); }
  bool fits(int vocabulary) const {  ///< all its ids are in a vocabulary of that many tokens
    return std::ranges::all_of(ids, [=](int id) { return id < vocabulary; });
  }
  bool operator==(const TriedText&) const = default;
};

/// All tried continuations, the newest last. None is a prefix of another.
using Tries = std::vector<TriedText>;
constexpr std::size_t kMaxTries = 100;  ///< older ones are dropped

/// Records that a prompt with the tokens `before` became `now`, whose last tokens had these probabilities.
/// The end of `before` that `now` lacks is recorded, too, so that one can return to it. Does nothing if the
/// two have no token in common.
Tries with_step(Tries tries, std::span<const int> before, std::span<const int> now,
                std::span<const double> probabilities);

/// Those that continue a prompt with the same beginning as this one.
std::vector<const TriedText*> tries_of(const Tries& tries, std::span<const int> prompt);

}  // namespace headscope::app
