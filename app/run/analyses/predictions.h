#pragma once
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/run/question.h"
#include "app/run/token_ref.h"
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
std::vector<float> logits_after(const PromptRun& run, int position, const Resources& with);

/// KL(p || q) of two distributions over the same tokens, in nats; infinite where q is 0 and p is not.
double divergence(std::span<const double> p, std::span<const double> q);
/// Nats as bits, the unit of all information that is shown, such as losses and entropies.
inline double bits(double nats) {
  return nats * std::numbers::log2e;
}

struct NextAfter {
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
  /// With `before`.
  Statistics minus(const Statistics& of_baseline, const PromptRun& run) const;
  std::size_t bytes() const;
};

struct StatisticsOfTokens {
  static constexpr std::string_view kName = "token statistics";
  bool operator==(const StatisticsOfTokens&) const = default;
  /// Positions that the previous run had with the same tokens, including the one after, are taken from it.
  Statistics compute(const PromptRun& run, const Computation<Statistics>& computation) const;
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

/// What the model would predict if it stopped at each place of the residual stream (nostalgebraist 2020), for
/// a block of positions.
struct LogitLens {
  static constexpr int kGuesses = 5;  ///< number of guesses per place
  int first = 0;                      ///< position
  int places = 0;                     ///< 2 n_layer + 1: see lens_place
  /// [positions, places]; a part has the block's first positions. The target, `next_*`, is the token of the
  /// question: by default the final answer, the most probable token at the end of the stream.
  std::vector<model::LensReading> readings;
  /// On the difference side: the readings of each position's counterpart in the baseline, NaN without one.
  /// The target on both sides is the baseline's.
  std::vector<model::LensReading> before = {};
  std::vector<int> targets = {};      ///< [positions]: ids
  TokenRef token = TokenRef::best();  ///< the question's
  std::vector<int> tokens;            ///< the run's tokens from the first to the block's last

  int positions() const { return places > 0 ? static_cast<int>(readings.size()) / places : 0; }
  bool knows(int position) const { return position >= first && position < first + positions(); }
  /// The reading at a position for which `knows` is true.
  const model::LensReading& at(int position, int place) const { return readings[index(position, place)]; }
  /// The same in the baseline, on the difference side.
  const model::LensReading& before_at(int position, int place) const {
    return before[index(position, place)];
  }
  /// On the difference side: whether the position has a counterpart.
  bool compares(int position) const { return !before_at(position, 0).guesses.top.empty(); }
  /// The target's id; on the difference side the baseline's.
  int answer(int position) const { return targets[position - first]; }
  std::size_t bytes() const;

 private:
  std::ptrdiff_t index(int position, int place) const {
    return std::ptrdiff_t{position - first} * places + place;
  }
};

/// A place of the stream: before a block, inside it between attention and MLP, or after the last block.
struct LensPlace {
  int layer = 0;  ///< n_layer after the last block
  bool mid = false;
};
/// Places count in the order of the pass: resid_pre 0, resid_mid 0, resid_pre 1 ... and the last resid_post.
constexpr LensPlace lens_place(int place) {
  return {place / 2, place % 2 != 0};
}

/// Answers for positions [kPositions * block, kPositions * (block + 1)), up to the end of the run.
struct LensOf {
  static constexpr std::string_view kName = "logit lens";
  static constexpr int kPositions = 32;
  static constexpr int blocks(int length) { return (length + kPositions - 1) / kPositions; }
  /// The block of a position.
  static LensOf around(int position, TokenRef token = TokenRef::best()) {
    return {position / kPositions, token};
  }

  int block = 0;  ///< inside the run
  /// The token whose probability and rank are read; ranks count at the end of the stream.
  TokenRef token = TokenRef::best();
  bool operator==(const LensOf&) const = default;
  /// Positions that the previous run had with the same tokens are taken from it.
  LogitLens compute(const PromptRun& run, const Computation<LogitLens>& computation) const;
  /// The first positions that the other run has with the same tokens; nothing: none.
  std::optional<LogitLens> reusable_part(const LogitLens& previous, const PromptRun& run) const;
  /// The lens of the run together with that of its baseline; both read the same targets.
  LogitLens compute_difference(const PromptRun& run, const PromptRun& baseline,
                               const Computation<LogitLens>& computation) const;
};

}  // namespace headscope::app
