#pragma once
#include <cstddef>
#include <vector>

namespace headscope::app {

/// A token of the vocabulary, and how much something moves its logit.
struct TokenPush {
  int id = 0;
  float logit = 0;
};

/// The tokens whose logits something moves most.
struct TokenPushes {
  static constexpr int kMax = 10;
  std::vector<TokenPush> up;    ///< the largest logits, in descending order
  std::vector<TokenPush> down;  ///< the smallest logits, in ascending order
  std::size_t bytes() const { return (up.size() + down.size()) * sizeof(TokenPush); }
};

/// The extremes of logits over the whole vocabulary.
TokenPushes strongest_pushes(std::vector<float> logits);

}  // namespace headscope::app
