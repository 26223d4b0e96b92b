#include "app/run/finiteness.h"

#include <vector>

namespace headscope::app {

Finiteness FinitenessOfRun::compute(const PromptRun& run, const Work<Finiteness>& work) const {
  const int last = run.run->length() - 1;
  std::vector<float> logits(static_cast<std::size_t>(run.run->config.vocab_size));
  run.model->transformer->logits(*run.run, last, 1, work.workspace, logits);
  return {not_finite_note(*run.run, last, logits)};
}

}  // namespace headscope::app
