#pragma once
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "app/run/prompt_run.h"
#include "model/pass/hooks.h"

namespace headscope::app {

/// Activations of a forward pass at one position, at the points that were requested.
class WatchedRows {
 public:
  void want(model::HookPoint point) { rows_.push_back({point, {}}); }
  bool empty() const { return rows_.empty(); }
  /// Recomputes the position. Throws model::Stopped.
  void watch(const PromptRun& run, int position, model::Workspace& workspace, const std::stop_token& stop);
  /// Empty if the point was not requested.
  std::span<const float> at(model::Site site, int layer = 0) const;

 private:
  std::vector<std::pair<model::HookPoint, std::vector<float>>> rows_;
};

}  // namespace headscope::app
