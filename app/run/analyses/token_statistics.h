#pragma once
#include <optional>
#include <vector>

#include "app/run/question.h"

namespace headscope::app {

/// What the model made of each position.
struct Statistics {
  std::vector<model::PositionStatistics> positions;  ///< [T]; while it is computed, of the first ones
  std::vector<int> tokens;                           ///< [T], what they are of
  /// Of a comparison: what was made of the position that stands for each there; nothing where none does.
  std::vector<std::optional<model::PositionStatistics>> before = {};
  std::size_t bytes() const;
};

struct StatisticsOfTokens {
  using Answer = Statistics;
  static constexpr std::string_view kWork = "token statistics";
  bool operator==(const StatisticsOfTokens&) const = default;
  /// Positions that the previous run had for the same tokens, up to the one after, are taken from it.
  Statistics compute(const PromptRun& run, const Work<Statistics>& work) const;
  /// The positions of the run beside those of its baseline.
  Statistics difference(const Statistics& after, const Statistics& before, const PromptRun& run) const;
};

}  // namespace headscope::app
