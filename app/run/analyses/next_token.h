#pragma once
#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/run/question.h"
#include "model/tokens/sampling.h"

namespace headscope::app {

/// The prediction after one position.
struct NextToken {
  int position = 0;
  std::vector<float> logits;  ///< logits of the whole vocabulary
  std::string not_finite;     ///< set if the run or these logits are not finite, see not_finite_note
  std::size_t bytes() const { return bytes_of(logits) + not_finite.size(); }
};

/// The logits of the whole vocabulary after a position.
std::vector<float> logits_after(const PromptRun& run, int position, model::Workspace& workspace);

/// Kullback-Leibler divergence KL(p || q) of two distributions over the same tokens, in nats. Infinite where
/// q is 0 and p is not.
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

/// The model's statistics at each position.
struct Statistics {
  std::vector<model::PositionStatistics> positions;  ///< [T]; a part has the first ones
  std::vector<int> tokens;                           ///< [T], the tokens they belong to
  /// On the difference side: the statistics of each position's counterpart; nothing without one.
  std::vector<std::optional<model::PositionStatistics>> before = {};
  std::size_t bytes() const;
};

struct StatisticsOfTokens {
  using Answer = Statistics;
  static constexpr std::string_view kName = "token statistics";
  bool operator==(const StatisticsOfTokens&) const = default;
  /// Positions that the previous run had with the same tokens, including the one after, are taken from it.
  Statistics compute(const PromptRun& run, const Computation<Statistics>& computation) const;
  /// The positions of the run together with those of its baseline.
  Statistics difference(const Statistics& after, const Statistics& before, const PromptRun& run) const;
};

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
