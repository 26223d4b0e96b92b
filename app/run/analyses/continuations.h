#pragma once
#include <cstdint>
#include <vector>

#include "app/run/question.h"
#include "model/tokens/sampling.h"

namespace headscope::app {

/// A drawn token, and the forward pass that read it; the last token of a text may not have been read.
struct DrawnToken {
  int id = 0;
  double probability = 0;  ///< the model's probability for it, at temperature 1
  int kept = 0;            ///< positions whose keys and values the pass found in the cache
  int computed = 0;        ///< positions that the pass computed
};

/// Texts that the model draws to continue a run, one for each seed.
struct Continuations {
  std::vector<std::vector<DrawnToken>> texts;
  std::size_t bytes() const;
};

struct ContinuationsOf {
  using Answer = Continuations;
  static constexpr std::string_view kName = "possible continuations";
  int texts = 1;
  int tokens = 8;  ///< number of tokens per text; fewer if the model ends the text, or n_ctx is reached
  double temperature = 1;
  int top_k = 0;
  double top_p = 1;        ///< see model::SamplingOptions
  std::uint64_t seed = 0;  ///< seed of the first text; the others use the following seeds
  bool read_last = false;  ///< whether a pass reads the last token, too; else its counts are 0
  bool operator==(const ContinuationsOf&) const = default;
  /// Draws with `model::draw_token`. Shows the answer after each token.
  Continuations compute(const PromptRun& run, const Computation<Continuations>& computation) const;
};

}  // namespace headscope::app
