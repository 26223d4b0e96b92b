#include "app/run/analyses/restored.h"

#include <cmath>
#include <limits>

#include "model/files/error.h"
#include "model/pass/statistics.h"

namespace headscope::app {

SweepReading source_reading(const PromptRun& run, const Sweep& sweep, model::Workspace& workspace) {
  const int position = run.baseline ? counterpart_of(run, sweep.position) : -1;
  if (position < 0)
    throw model::RunError(
        "position " + std::to_string(sweep.position) +
        " has no counterpart in what is patched from, so that nothing can be restored there");
  const PromptRun& source = *run.baseline;
  const model::Transformer& transformer = *source.model->transformer;
  std::vector<float> logits(static_cast<std::size_t>(transformer.config().vocab_size));
  transformer.logits(*source.run, position, 1, workspace, logits);
  const double logit = logits[static_cast<std::size_t>(sweep.token)];
  return {.logit = logit,
          .against = sweep.against < 0 ? 0 : logits[static_cast<std::size_t>(sweep.against)],
          .probability = std::exp(logit - model::log_sum_exp(logits)),
          .divergence = std::numeric_limits<double>::quiet_NaN()};
}

double restored(const Sweep& sweep, const SweepReading& source, SweepMetric metric, double change) {
  const double whole = source.of(metric) - sweep.before.of(metric);
  return whole == 0 ? std::numeric_limits<double>::quiet_NaN() : change / whole;
}

}  // namespace headscope::app
