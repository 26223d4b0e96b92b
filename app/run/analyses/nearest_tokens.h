#pragma once
#include <vector>

#include "app/run/question.h"

namespace headscope::app {

/// A token of the vocabulary compared with another one by their rows of `wte.weight`.
struct Neighbour {
  int id = 0;
  float dot = 0;     ///< product of the two rows
  float norm = 0;    ///< norm of its row
  float cosine = 0;  ///< dot divided by both norms
};

/// The tokens with the most similar embeddings, the token itself left out.
struct NearestTokens {
  static constexpr int kMax = 10;
  int id = 0;
  float norm = 0;
  std::vector<Neighbour> tokens;  ///< by descending cosine, ties by the smaller id
  std::size_t bytes() const { return bytes_of(tokens); }
};

struct NearestTo {
  using Answer = NearestTokens;
  static constexpr std::string_view kName = "nearest tokens";
  int position = -1;  ///< -1, or beyond the run: the last position
  bool operator==(const NearestTo&) const = default;
  NearestTokens compute(const PromptRun& run, const Computation<NearestTokens>& computation) const;
};

}  // namespace headscope::app
