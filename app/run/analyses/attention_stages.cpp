#include "app/run/analyses/attention_stages.h"

#include <limits>

#include "app/run/analyses/cell_pairs.h"
#include "app/run/analyses/vectors.h"

namespace headscope::app {

Stages StagesOf::difference(const Stages& after, const Stages& before, const PromptRun& run) const {
  Stages result = after;
  const int length = after.values.length;
  result.masked = {std::vector<std::uint8_t>(after.values.pattern.size()), length};
  using Values = model::AttentionStages;
  for_each_pair(
      after.masked, before.masked, length, length, before.values.length, run,
      [&](std::ptrdiff_t cell, std::ptrdiff_t counterpart, bool masked) {
        const auto at = static_cast<std::size_t>(cell);
        for (const auto stage : {&Values::scores, &Values::scaled, &Values::masked, &Values::pattern}) {
          float& value = (result.values.*stage)[at];
          value = counterpart < 0 ? std::numeric_limits<float>::quiet_NaN()
                                  : app::difference(value, (before.values.*stage)[counterpart]);
        }
        result.masked.cells[at] = masked ? 1 : 0;
      });
  simplify(result.masked);
  return result;
}

viz::Matrix Stages::matrix(Stage stage) const {
  const std::vector<float>& cells = stage == Stage::scores   ? values.scores
                                    : stage == Stage::scaled ? values.scaled
                                    : stage == Stage::masked ? values.masked
                                                             : values.pattern;
  return viz::Matrix::row_major(cells, values.length, values.length);
}

Stages StagesOf::compute(const PromptRun& run, const Computation<Stages>&) const {
  Stages stages{run.model->transformer->attention(*run.run, layer, head), {}};
  stages.masked = masked_cells(run, {layer, head}, stages.values.pattern);
  return stages;
}

}  // namespace headscope::app
