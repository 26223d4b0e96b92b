#include "app/run/recompute.h"

#include <algorithm>
#include <cstddef>

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

std::shared_ptr<const model::Run> unedited_run(const PromptRun& run, model::Workspace& workspace,
                                               const std::stop_token& stop) {
  if (run.run->plan == nullptr) return run.run;
  if (run.unedited) return run.unedited;
  if (run.baseline && run.baseline->run->plan == nullptr && !compares_different_inputs(run))
    return run.baseline->run;
  model::ForwardOptions options;
  options.stop = stop;
  return run.model->transformer->forward(run.run->tokens, workspace, options);
}

void copy_activation(model::Hooks& hooks, model::HookPoint point, std::span<float> values, int cols) {
  hooks.watch(point, [values, cols](const model::ConstActivation2d& piece) {
    const auto positions = static_cast<int>(std::ssize(values) / cols);
    for (int i = 0; i < piece.rows && piece.first_pos + i < positions; ++i)
      std::ranges::copy(piece.row(i),
                        values.begin() + std::ptrdiff_t{piece.first_pos + i} * cols + piece.first_col);
  });
}

std::span<const float> row_of(const model::ConstActivation2d& piece, int position) {
  const int row = position - piece.first_pos;
  return row >= 0 && row < piece.rows ? piece.row(row) : std::span<const float>();
}

}  // namespace headscope::app
