#include "app/run/analyses/attention_questions.h"

#include <limits>

#include "app/run/analyses/vectors.h"
#include "model/kernels/panels.h"

namespace headscope::app {
namespace {

/// Calls visit(cell, baseline cell, whether both are masked) for each query and key; the baseline cell is -1
/// where either has no counterpart.
template <class Visit>
void for_each_pair(const MaskedCells& after, const MaskedCells& before, int queries, int keys, int other_keys,
                   const PromptRun& run, const Visit& visit) {
  const auto there = [](const std::vector<int>& aligned, int position) {
    return aligned.empty() ? position : aligned[position];
  };
  for (int query = 0; query < queries; ++query) {
    const int row = there(run.aligned, query);
    for (int key = 0; key < keys; ++key) {
      const int col = there(aligned_keys(run), key);
      const bool known = row >= 0 && col >= 0;
      visit(std::ptrdiff_t{query} * keys + key, known ? std::ptrdiff_t{row} * other_keys + col : -1,
            !known || (after(query, key) && before(row, col)));
    }
  }
}

/// Clears a mask that is exactly the causal one.
void simplify(MaskedCells& masked) {
  if (std::ssize(masked.cells) != std::ptrdiff_t{masked.length} * masked.length) return;
  for (int query = 0; query < masked.length; ++query)
    for (int key = 0; key < masked.length; ++key)
      if (masked(query, key) != (key > query)) return;
  masked.cells.clear();
}

}  // namespace

Pattern pattern_difference(const Pattern& after, const Pattern& before, const PromptRun& run) {
  Pattern result = after;
  result.masked = {std::vector<std::uint8_t>(after.values.size()), after.keys()};
  for_each_pair(after.masked, before.masked, after.length, after.keys(), before.keys(), run,
                [&](std::ptrdiff_t cell, std::ptrdiff_t other, bool masked) {
                  const auto at = static_cast<std::size_t>(cell);
                  result.values[at] = other < 0 ? 0 : difference(after.values[at], before.values[other]);
                  result.masked.cells[at] = masked ? 1 : 0;
                });
  simplify(result.masked);
  return result;
}

Stages StagesOf::difference(const Stages& after, const Stages& before, const PromptRun& run) const {
  Stages result = after;
  const int length = after.values.length;
  result.masked = {std::vector<std::uint8_t>(after.values.pattern.size()), length};
  using Values = model::AttentionStages;
  for_each_pair(
      after.masked, before.masked, length, length, before.values.length, run,
      [&](std::ptrdiff_t cell, std::ptrdiff_t other, bool masked) {
        const auto at = static_cast<std::size_t>(cell);
        for (const auto stage : {&Values::scores, &Values::scaled, &Values::masked, &Values::pattern}) {
          float& value = (result.values.*stage)[at];
          value = other < 0 ? std::numeric_limits<float>::quiet_NaN()
                            : app::difference(value, (before.values.*stage)[other]);
        }
        result.masked.cells[at] = masked ? 1 : 0;
      });
  simplify(result.masked);
  return result;
}

Pattern PatternOf::compute(const PromptRun& run, const Work<Pattern>&) const {
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

viz::Matrix Stages::matrix(Stage stage) const {
  const std::vector<float>& cells = stage == Stage::scores   ? values.scores
                                    : stage == Stage::scaled ? values.scaled
                                    : stage == Stage::masked ? values.masked
                                                             : values.pattern;
  return viz::Matrix::row_major(cells, values.length, values.length);
}

Stages StagesOf::compute(const PromptRun& run, const Work<Stages>&) const {
  Stages stages{run.model->transformer->attention(*run.run, layer, head), {}};
  stages.masked = masked_cells(run, {layer, head}, stages.values.pattern);
  return stages;
}

std::vector<float> softmax_of(std::vector<float> scores, float scale) {
  model::fastest_kernels().rows.softmax(scale, scores.data(), static_cast<int>(scores.size()));
  return scores;
}

SoftmaxRow SoftmaxRowOf::compute(const PromptRun& run, const Work<SoftmaxRow>&) const {
  return {run.model->transformer->attention_row(*run.run, layer, head, query, least_keys)};
}

AttentionInput AttentionInputOf::difference(const AttentionInput& after, const AttentionInput& before,
                                            const PromptRun&) const {
  return {difference_of(after.residual, before.residual), difference_of(after.normed, before.normed),
          difference_of(after.bias, before.bias), difference_of(after.output, before.output)};
}

AttentionInput AttentionInputOf::compute(const PromptRun& run, const Work<AttentionInput>&) const {
  const model::Run& kept = *run.run;
  const model::Transformer& transformer = *run.model->transformer;
  AttentionInput input;
  const auto residual = kept.resid(layer, position);
  input.residual.assign(residual.begin(), residual.end());
  input.normed = transformer.attention_input(kept, layer, position);
  const auto bias = transformer.attention_bias(layer);
  input.bias.assign(bias.begin(), bias.end());
  input.output.reserve(bias.size());
  const auto append = [&](const auto& of_head) {
    for (int head = 0; head < kept.config.n_head; ++head) {
      const auto values = of_head(head);
      input.output.insert(input.output.end(), values.begin(), values.end());
    }
  };
  append([&](int head) { return kept.q(layer, head, position); });
  append([&](int head) { return kept.k(layer, head, position); });
  append([&](int head) { return kept.v(layer, head, position); });
  return input;
}

MergedHeads MergedHeadsOf::difference(const MergedHeads& after, const MergedHeads& before,
                                      const PromptRun&) const {
  return {{difference_of(after.of.z, before.of.z), difference_of(after.of.results, before.of.results),
           difference_of(after.of.out, before.of.out)},
          difference_of(after.bias, before.bias),
          difference_of(after.before, before.before),
          difference_of(after.after, before.after)};
}

MergedHeads MergedHeadsOf::compute(const PromptRun& run, const Work<MergedHeads>& work) const {
  const model::Run& kept = *run.run;
  const model::Transformer& transformer = *run.model->transformer;
  MergedHeads merged;
  merged.of = transformer.attention_output(kept, layer, position, work.workspace);
  const auto bias = transformer.projection_bias(layer), before = kept.resid(layer, position);
  merged.bias.assign(bias.begin(), bias.end());
  merged.before.assign(before.begin(), before.end());
  merged.after = merged.before;
  for (std::size_t i = 0; i < merged.after.size(); ++i) merged.after[i] += merged.of.out[i];
  return merged;
}

}  // namespace headscope::app
