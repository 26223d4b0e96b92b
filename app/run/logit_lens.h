#pragma once
#include <cstddef>
#include <vector>

#include "app/run/question.h"

namespace headscope::app {

/// What the model would predict if it ended at each place of the residual stream (nostalgebraist 2020).
struct LogitLens {
  static constexpr int kGuesses = 5;  ///< of each place
  int places = 0;                     ///< 2 n_layer + 1: see lens_place
  /// [positions, places]; of a part: of the first positions. The target, `next_*`, is the final answer: the
  /// token that is most probable at the end of the stream.
  std::vector<model::LensReading> readings;
  std::vector<int> tokens;  ///< [T], what it is of

  int positions() const { return places > 0 ? static_cast<int>(readings.size()) / places : 0; }
  const model::LensReading& at(int position, int place) const {
    return readings[static_cast<std::size_t>(position) * static_cast<std::size_t>(places) +
                    static_cast<std::size_t>(place)];
  }
  /// What is most probable at the end of the stream.
  int answer(int position) const { return at(position, places - 1).guesses.top.front().id; }
  std::size_t bytes() const;
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

struct LensOf {
  using Answer = LogitLens;
  static constexpr std::string_view kWork = "logit lens";
  static constexpr bool kQuick = false;
  bool operator==(const LensOf&) const = default;
  /// Positions that the former run had for the same tokens are taken from it.
  LogitLens compute(const PromptRun& run, const Work<LogitLens>& work) const;
};

}  // namespace headscope::app
