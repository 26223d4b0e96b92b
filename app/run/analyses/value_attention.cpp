#include "app/run/analyses/value_attention.h"

#include "app/run/analyses/attention_pattern.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "app/run/analyses/parameter_rows.h"
#include "model/files/error.h"
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
