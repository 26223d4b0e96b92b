#include "app/run/analyses/watched_rows.h"

#include <algorithm>

#include "app/run/recompute.h"

namespace headscope::app {

void WatchedRows::watch(const PromptRun& run, int position, model::Workspace& workspace,
                        const std::stop_token& stop) {
  model::Hooks hooks;
  for (auto& [point, values] : rows_) {
    hooks.watch(point, [position, &values = values](const model::ConstActivation2d& activation) {
      const auto row = row_of(activation, position);
      values.insert(values.end(), row.begin(), row.end());
    });
  }
  recompute(run, position, position + 1, hooks, workspace, stop);
}

std::span<const float> WatchedRows::at(model::Site site, int layer) const {
  const auto found = std::ranges::find(rows_, model::HookPoint{site, layer},
                                       &std::pair<model::HookPoint, std::vector<float>>::first);
  return found != rows_.end() ? std::span<const float>(found->second) : std::span<const float>();
}

}  // namespace headscope::app
