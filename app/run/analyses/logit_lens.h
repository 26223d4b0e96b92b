#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/run/question.h"

namespace headscope::app {

/// What the model would predict if it ended at each place of the residual stream (nostalgebraist 2020), for a
/// block of positions.
struct LogitLens {
  static constexpr int kGuesses = 5;  ///< of each place
  int first = 0;                      ///< position
  int places = 0;                     ///< 2 n_layer + 1: see lens_place
  /// [positions, places]; of a part: of the block's first positions. The target, `next_*`, is the final
  /// answer: the token that is most probable at the end of the stream.
  std::vector<model::LensReading> readings;
  /// Of a comparison: the same of what stands for each position there, NaN where nothing does. The target of
  /// both is the final answer there.
  std::vector<model::LensReading> before = {};
  std::vector<int> tokens;  ///< what it is of: all from the prompt's first to the block's last

  int positions() const { return places > 0 ? static_cast<int>(readings.size()) / places : 0; }
  bool knows(int position) const { return position >= first && position < first + positions(); }
  /// Of a position in the run, one that it knows.
  const model::LensReading& at(int position, int place) const { return readings[index(position, place)]; }
  /// Of a comparison.
  const model::LensReading& before_at(int position, int place) const {
    return before[index(position, place)];
  }
  /// Of a comparison: whether something stands for the position.
  bool compares(int position) const { return !before_at(position, 0).guesses.top.empty(); }
  /// What is most probable at the end of the stream; of a comparison, of the other one's.
  int answer(int position) const {
    const auto& end = before.empty() || !compares(position) ? readings : before;
    return end[index(position, places - 1)].guesses.top.front().id;
  }
  std::size_t bytes() const;

 private:
  std::ptrdiff_t index(int position, int place) const {
    return std::ptrdiff_t{position - first} * places + place;
  }
};

/// Where a place of the stream is: before a block, inside it between attention and MLP, or behind the last.
struct LensPlace {
  int layer = 0;  ///< n_layer behind the last block
  bool mid = false;
};
/// Places count in the order of the pass: resid_pre 0, resid_mid 0, resid_pre 1 ... and the last resid_post.
constexpr LensPlace lens_place(int place) {
  return {place / 2, place % 2 != 0};
}
/// "0 pre", "0 mid" ... "11 post"; TransformerLens' names are blocks.0.hook_resid_pre and so on.
std::string lens_place_name(int place, int n_layer);

/// Of positions [kPositions * block, kPositions * (block + 1)), as far as the run goes.
struct LensOf {
  using Answer = LogitLens;
  static constexpr std::string_view kWork = "logit lens";
  static constexpr int kPositions = 32;
  static constexpr int blocks(int length) { return (length + kPositions - 1) / kPositions; }
  /// The one that a position is in.
  static constexpr LensOf around(int position) { return {position / kPositions}; }

  int block = 0;  ///< inside the run
  bool operator==(const LensOf&) const = default;
  /// Positions that the previous run had for the same tokens are taken from it.
  LogitLens compute(const PromptRun& run, const Work<LogitLens>& work) const;
  /// As many of its first positions as the other run has with the same tokens; nothing: none.
  std::optional<LogitLens> kept_of(const LogitLens& previous, const PromptRun& run) const;
  /// The lens of the run beside that of its baseline, whose targets both read.
  LogitLens compute_difference(const PromptRun& run, const Work<LogitLens>& work) const;
};

}  // namespace headscope::app
