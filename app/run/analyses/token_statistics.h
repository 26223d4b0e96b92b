#pragma once
#include <vector>

#include "app/run/question.h"

namespace headscope::app {

/// What the model made of each position.
struct Statistics {
  std::vector<model::PositionStatistics> positions;  ///< [T]; while it is computed, of the first ones
  std::vector<int> tokens;                           ///< [T], what they are of
  std::size_t bytes() const;
};

struct StatisticsOfTokens {
  using Answer = Statistics;
  static constexpr std::string_view kWork = "token statistics";
  static constexpr bool kQuick = false;
  bool operator==(const StatisticsOfTokens&) const = default;
  /// Positions that the former run had for the same tokens, up to the one after, are taken from it.
  Statistics compute(const PromptRun& run, const Work<Statistics>& work) const;
};

}  // namespace headscope::app
