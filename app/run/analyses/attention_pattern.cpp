#include "app/run/analyses/attention_pattern.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <string>

#include "app/run/analyses/parameter_rows.h"
#include "app/run/analyses/vectors.h"
#include "model/files/error.h"
#include "model/kernels/panels.h"
#include "model/maths/plain_product.h"
#include "model/pass/plan.h"

namespace headscope::app {
namespace {

/// [T]: the norm of each position's value through the head's rows of c_proj.
std::vector<float> norms_of_values(const PromptRun& run, int layer, int head) {
  const int width = run.run->config.d_head();
  const ParameterRows projection = parameter_rows(
      *run.model->transformer, "h." + std::to_string(layer) + ".attn.c_proj.weight", head * width, width);
  const std::vector<double> products = model::gram(projection.view());
  std::vector<float> norms;
  for (int key = 0; key < run.run->length(); ++key) {
    const std::span<const float> v = run.run->v(layer, head, key);
    double square = 0;  // |v W|^2 = v W W^T v^T
    for (std::size_t i = 0; i < v.size(); ++i)
      for (std::size_t j = 0; j < v.size(); ++j)
        square += static_cast<double>(v[i]) * static_cast<double>(v[j]) * products[i * v.size() + j];
    norms.push_back(static_cast<float>(std::sqrt(std::max(0.0, square))));
  }
  return norms;
}

/// Whether edits may unmask later keys or mask earlier ones, in a layer up to this one.
bool edits_cells_up_to(const model::Run& run, int layer) {
  if (run.plan == nullptr) return false;
  for (int l = 0; l <= layer; ++l)
    if (run.plan->edits_cells(l)) return true;
  return false;
}

}  // namespace

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

void simplify(MaskedCells& masked) {
  if (std::ssize(masked.cells) != std::ptrdiff_t{masked.length} * masked.length) return;
  for (int query = 0; query < masked.length; ++query)
    for (int key = 0; key < masked.length; ++key)
      if (masked(query, key) != (key > query)) return;
  masked.cells.clear();
}

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

std::vector<float> softmax_of(std::vector<float> scores, float scale) {
  model::fastest_kernels().rows.softmax(scale, scores.data(), static_cast<int>(scores.size()));
  return scores;
}

SoftmaxRow SoftmaxRowOf::compute(const PromptRun& run, const Computation<SoftmaxRow>&) const {
  return {run.model->transformer->attention_row(*run.run, layer, head, query, least_keys)};
}

Pattern WeightedValuesOf::compute(const PromptRun& run, const Computation<Pattern>& computation) const {
  Pattern pattern = PatternOf{layer, head}.compute(run, computation);
  const std::vector<float> norms = norms_of_values(run, layer, head);
  for (std::size_t i = 0; i < pattern.values.size(); ++i)
    pattern.values[i] = std::abs(pattern.values[i]) * norms[i % norms.size()];
  return pattern;
}

Pattern RolloutOf::compute(const PromptRun& run, const Computation<Pattern>& computation) const {
  if (!has_own_keys(run)) throw model::RunError("attention rollout needs keys that are the queries' tokens");
  const int length = run.run->length(), heads = run.run->config.n_head;
  const auto cells = std::ptrdiff_t{length} * length;
  const auto rows = [&](std::vector<float>& values) {
    return model::FloatRows{values.data(), length, length, length};
  };
  const float part = 0.5F / static_cast<float>(heads);
  std::vector<float> pattern(cells), step(cells), rollout;
  for (int l = 0; l <= layer; ++l) {
    std::ranges::fill(step, 0.F);
    for (std::ptrdiff_t i = 0; i < cells; i += length + 1) step[i] = 0.5F;
    for (int head = 0; head < heads; ++head) {
      if (computation.stop.stop_requested()) throw model::Stopped();
      pattern_of(run, l, head, pattern);
      for (std::ptrdiff_t i = 0; i < cells; ++i) step[i] += part * pattern[i];
    }
    if (l == 0) {
      rollout = step;
      continue;
    }
    model::multiply(rows(step), rows(rollout), computation.workspace, rows(pattern));
    std::swap(rollout, pattern);
  }
  Pattern result{length, std::move(rollout), {}};
  if (run.model->patterns) {
    result.masked = masked_cells(run, {layer, 0}, result.values);
  } else if (edits_cells_up_to(*run.run, layer)) {
    result.masked.length = length;
    for (const float value : result.values) result.masked.cells.push_back(value == 0 ? 1 : 0);
  }
  return result;
}

Pattern WeightedValuesOf::difference(const Pattern& after, const Pattern& before,
                                     const PromptRun& run) const {
  return pattern_difference(after, before, run);
}

Pattern RolloutOf::difference(const Pattern& after, const Pattern& before, const PromptRun& run) const {
  return pattern_difference(after, before, run);
}

}  // namespace headscope::app
