#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/run/analyses/attribution.h"
#include "app/run/question.h"

namespace headscope::app {

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
  std::vector<int> targets = {};            ///< [positions]: ids
  TokenChoice token = TokenChoice::best();  ///< the question's
  std::vector<int> tokens;                  ///< the run's tokens from the first to the block's last

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
/// "0 pre", "0 mid" ... "11 post"; TransformerLens' names are blocks.0.hook_resid_pre and so on.
std::string lens_place_name(int place, int n_layer);
/// "blocks.0.hook_resid_mid"; of the last place, the end of the stream, "blocks.11.hook_resid_post".
std::string lens_hook_name(int place, int n_layer);

/// Answers for positions [kPositions * block, kPositions * (block + 1)), up to the end of the run.
struct LensOf {
  using Answer = LogitLens;
  static constexpr std::string_view kName = "logit lens";
  static constexpr int kPositions = 32;
  static constexpr int blocks(int length) { return (length + kPositions - 1) / kPositions; }
  /// The block of a position.
  static constexpr LensOf around(int position, TokenChoice token = TokenChoice::best()) {
    return {position / kPositions, token};
  }

  int block = 0;  ///< inside the run
  /// The token whose probability and rank are read; ranks count at the end of the stream.
  TokenChoice token = TokenChoice::best();
  bool operator==(const LensOf&) const = default;
  /// Positions that the previous run had with the same tokens are taken from it.
  LogitLens compute(const PromptRun& run, const Computation<LogitLens>& computation) const;
  /// The first positions that the other run has with the same tokens; nothing: none.
  std::optional<LogitLens> reusable_part(const LogitLens& previous, const PromptRun& run) const;
  /// The lens of the run together with that of its baseline; both read the same targets.
  LogitLens compute_difference(const PromptRun& run, const Computation<LogitLens>& computation) const;
};

}  // namespace headscope::app
