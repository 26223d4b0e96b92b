#pragma once
#include <cstddef>
#include <vector>

namespace headscope::app {

/// A token of the vocabulary, and how far something moves its logit.
struct TokenPush {
  int id = 0;
  float logit = 0;
};

/// The tokens that something moves most.
struct TokenPushes {
  static constexpr int kMost = 10;
  std::vector<TokenPush> up;    ///< the largest logits, falling
  std::vector<TokenPush> down;  ///< the smallest logits, rising
  std::size_t bytes() const { return (up.size() + down.size()) * sizeof(TokenPush); }
};

/// Of logits of the whole vocabulary.
TokenPushes strongest_pushes(std::vector<float> logits);

}  // namespace headscope::app
