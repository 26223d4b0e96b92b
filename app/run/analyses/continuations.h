#pragma once
#include <cstdint>
#include <vector>

#include "app/run/question.h"
#include "model/tokens/sampling.h"

namespace headscope::app {

/// A token that was drawn, and the pass that read it; the last one of a text may be read by none.
struct DrawnToken {
  int id = 0;
  double probability = 0;  ///< that the model gave it, at temperature 1
  int kept = 0;            ///< positions whose keys and values that pass found in the cache
  int computed = 0;        ///< and those that it computed
};

/// How the model goes on from a run: texts that it draws, one for each seed.
struct Continuations {
  std::vector<std::vector<DrawnToken>> texts;
  std::size_t bytes() const;
};

struct ContinuationsOf {
  using Answer = Continuations;
  static constexpr std::string_view kWork = "texts that may follow";
  int texts = 1;
  int tokens = 8;  ///< of each; less where the model ends the text, or n_ctx does
  double temperature = 1;
  int top_k = 0;
  double top_p = 1;        ///< see model::SamplingOptions
  std::uint64_t seed = 0;  ///< of the first text, the others have those after it
  bool read_last = false;  ///< a pass reads the last token, too; else nothing is said of it
  bool operator==(const ContinuationsOf&) const = default;
  /// The tokens are those that `model::draw_token` draws at their positions. Shown after each token.
  Continuations compute(const PromptRun& run, const Work<Continuations>& work) const;
};

}  // namespace headscope::app
