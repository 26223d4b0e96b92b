#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/arguments/arguments.h"
#include "app/run/analyses/head_metrics.h"

namespace headscope::app {

/// What all heads do with all texts, or with those of a shard.
struct Measurement {
  std::vector<HeadMetrics> heads;  ///< layer * n_head + head
  int n_head = 0;
  int texts = 0;
  int skipped = 0;  ///< prompts that failed
  std::map<std::string, std::string> conditions =
      {};  ///< of prompts: the model, and how it was run; values as JSON
  Shard shard = {};
};

/// What `headscope metrics --prompts --json` wrote. Throws model::LoadError that begins with `file`.
Measurement parse_measurement(std::string_view json, const std::string& file);

struct MeasurementPart {
  std::string file;  ///< for messages
  Measurement measured;
};

/// The parts of a measurement, at least one, added up: the same to the last digit however the prompts were
/// cut into parts (see ExactMean). Throws model::LoadError for parts that do not belong together, or are not
/// all there.
Measurement merge(std::span<const MeasurementPart> parts);
/// The same of files.
Measurement merge(std::span<const std::filesystem::path> files);

}  // namespace headscope::app
