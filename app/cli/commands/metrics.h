#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "app/cli/arguments/arguments.h"
#include "app/run/analyses/head_metrics.h"

namespace headscope::app {

/// What heads do with the prompts, all of them together, or with repeated random tokens.
struct MetricsCommand : Arguments {
  enum class Form { text, csv, json };
  std::optional<RepeatedTokens> repeated;         ///< in place of prompts
  std::vector<std::filesystem::path> merge = {};  ///< parts of a measurement, in place of prompts
  std::uint64_t seed = 0;                         ///< of the random tokens
  std::optional<HeadMetric> sort;                 ///< the largest first; none: by layer and head
  int top = 0;                                    ///< how many heads; 0: all
  bool csv = false;
  Form form = Form::text;
};

}  // namespace headscope::app
