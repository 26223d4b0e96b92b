#pragma once
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/arguments/list_part.h"
#include "app/run/analyses/head_metrics.h"

namespace headscope::app {

/// Metrics of all heads over all texts, or over those of a shard.
struct Measurement : ListPart {
  std::vector<HeadMetrics> heads = {};  ///< layer * n_head + head
  /// The mean of each metric over prompts, each prompt with its own value; empty: of one prompt alone, or not
  /// known.
  std::vector<std::array<SampleMean, kHeadMetrics>> over_prompts = {};
  int n_head = 0;

  /// Adds the metrics of a prompt's heads.
  void add(const std::vector<HeadMetrics>& prompt);
  /// Null: of one prompt alone, or not known.
  const SampleMean* over_prompts_of(int head, HeadMetric metric) const {
    return over_prompts.empty() ? nullptr : &over_prompts[head][static_cast<std::size_t>(metric)];
  }
};

/// Parses the output of `headscope metrics --prompts --json`. Throws model::LoadError that begins with
/// `file`.
Measurement parse_measurement(std::string_view json, const std::string& file);

/// Adds up the parts of a measurement, at least one. The result is the same to the last digit however the
/// prompts were divided (see ExactMean). Throws model::LoadError if parts are missing or do not belong
/// together.
Measurement merge(std::span<const std::filesystem::path> files);

}  // namespace headscope::app
