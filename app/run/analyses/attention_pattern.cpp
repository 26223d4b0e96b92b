#include "app/run/analyses/attention_pattern.h"

#include "app/run/analyses/cell_pairs.h"
#include "app/run/analyses/vectors.h"

namespace headscope::app {

Pattern pattern_difference(const Pattern& after, const Pattern& before, const PromptRun& run) {
  Pattern result = after;
  result.masked = {std::vector<std::uint8_t>(after.values.size()), after.keys()};
  for_each_pair(after.masked, before.masked, after.length, after.keys(), before.keys(), run,
                [&](std::ptrdiff_t cell, std::ptrdiff_t counterpart, bool masked) {
                  const auto at = static_cast<std::size_t>(cell);
                  result.values[at] =
                      counterpart < 0 ? 0 : difference(after.values[at], before.values[counterpart]);
                  result.masked.cells[at] = masked ? 1 : 0;
                });
  simplify(result.masked);
  return result;
}

Pattern PatternOf::compute(const PromptRun& run, const Computation<Pattern>&) const {
  Pattern pattern;
  pattern.length = run.run->length();
  pattern.values.resize(std::ptrdiff_t{pattern.length} * key_count(run));
  pattern_of(run, layer, head, pattern.values);
  pattern.masked = masked_cells(run, {layer, head}, pattern.values);
  return pattern;
}

Pattern PatternOf::difference(const Pattern& after, const Pattern& before, const PromptRun& run) const {
  return pattern_difference(after, before, run);
}

}  // namespace headscope::app
