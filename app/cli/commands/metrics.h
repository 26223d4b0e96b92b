#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "app/cli/arguments/arguments.h"
#include "app/run/analyses/head_metrics.h"

namespace headscope::app {

/// Metrics of heads over all prompts together, or over repeated random tokens.
struct MetricsCommand : Arguments {
  enum class Form { text, csv, json };
  std::optional<RepeatedTokens> repeated;         ///< instead of prompts
  std::vector<std::filesystem::path> merge = {};  ///< parts of a measurement, instead of prompts
  std::optional<std::uint64_t> seed;              ///< seed of the random tokens; nothing: 0
  std::optional<HeadMetric> sort;                 ///< sort by this, largest first; nothing: by layer and head
  int top = 0;                                    ///< number of heads; 0: all
  bool csv = false;
  Form form = Form::text;
};

}  // namespace headscope::app
