#include "app/run/recompute.h"

namespace headscope::app {

void recompute(const PromptRun& run, int first, int end, const model::Hooks& hooks,
               model::Workspace& workspace, const std::stop_token& stop) {
  const model::Run& kept = *run.run;
  const bool whole = kept.plan != nullptr && kept.plan->needs_whole_run();
  model::ForwardOptions options;
  options.base = &kept;
  options.plan = kept.plan;
  options.hooks = &hooks;
  options.hooked_from = first;
  options.stop = stop;
  const auto tokens = std::span(kept.tokens).first(whole ? kept.length() : end);
  run.model->transformer->forward(tokens, workspace, options);
}

std::span<const float> row_of(const model::ConstActivation2d& piece, int position) {
  const int row = position - piece.first_pos;
  return row >= 0 && row < piece.rows ? piece.row(row) : std::span<const float>();
}

}  // namespace headscope::app
