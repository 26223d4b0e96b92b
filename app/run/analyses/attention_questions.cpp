#include "app/run/analyses/attention_questions.h"

#include "app/run/analyses/patterns.h"
#include "app/run/comparison.h"

namespace headscope::app {

Pattern PatternOf::compute(const PromptRun& run, const Work<Pattern>&) const {
  Pattern pattern;
  pattern.length = run.run->length();
  pattern.values.resize(static_cast<std::size_t>(pattern.length) * static_cast<std::size_t>(key_count(run)));
  pattern_of(run, layer, head, pattern.values);
  pattern.masked = masked_cells(run, {layer, head}, pattern.values);
  return pattern;
}

Pattern PatternOf::difference(const Pattern& after, const Pattern& before, const PromptRun& run) const {
  return pattern_difference(after, before, run);
}

Stages StagesOf::difference(const Stages& after, const Stages& before, const PromptRun& run) const {
  return stages_difference(after, before, run);
}

std::size_t Stages::bytes() const {
  return (values.scores.size() + values.scaled.size() + values.masked.size() + values.pattern.size()) *
             sizeof(float) +
         masked.cells.size();
}

viz::Matrix Stages::matrix(Stage stage) const {
  const std::vector<float>& cells = stage == Stage::scores   ? values.scores
                                    : stage == Stage::scaled ? values.scaled
                                    : stage == Stage::masked ? values.masked
                                                             : values.pattern;
  return viz::Matrix::row_major(cells, values.length, values.length);
}

Stages StagesOf::compute(const PromptRun& run, const Work<Stages>&) const {
  Stages stages{run.model->transformer->attention(*run.run, layer, head), {}};
  stages.masked = masked_cells(*run.run, {layer, head}, stages.values.pattern);
  return stages;
}

}  // namespace headscope::app
