#pragma once
#include <optional>
#include <vector>

#include "app/run/question.h"

namespace headscope::app {

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

}  // namespace headscope::app
