#include "app/run/analyses/next_token.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

double divergence(std::span<const double> p, std::span<const double> q) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    if (p[i] > 0) sum += p[i] * std::log(p[i] / q[i]);
  return sum;
}

NextToken NextAfter::compute(const PromptRun& run, const Computation<NextToken>& computation) const {
  const int last = run.run->length() - 1;
  NextToken next{position < 0 ? last : std::min(position, last),
                 std::vector<float>(static_cast<std::size_t>(run.run->config.vocab_size)),
                 {}};
  run.model->transformer->logits(*run.run, next.position, 1, computation.workspace, next.logits);
  next.not_finite = not_finite_note(*run.run, next.position, next.logits);
  return next;
}

}  // namespace headscope::app
