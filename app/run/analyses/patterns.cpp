#include "app/run/analyses/patterns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include "app/run/analyses/parameters.h"
#include "app/run/analyses/vectors.h"
#include "app/run/edits/edit_kinds.h"
#include "app/run/sources/pattern_file.h"
#include "model/files/error.h"
#include "model/kernels/kernels.h"
#include "model/maths/products.h"
#include "model/pass/attention.h"
#include "model/pass/plan.h"

namespace headscope::app {
namespace {

/// [T]: the norm of each position's value through the head's rows of c_proj.
std::vector<float> norms_of_values(const PromptRun& run, int layer, int head) {
  const int width = run.run->config.d_head();
  const ParameterRows projection =
      layer_rows(*run.model->transformer, layer, "attn.c_proj.weight", head * width, width);
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

/// The mask of what several heads show together: of cells that none of them has a weight on, unless all their
/// masks are causal.
MaskedCells masked_together(const PromptRun& run, bool causal, std::span<const float> weights) {
  MaskedCells masked{{}, key_count(run)};
  for (std::size_t i = 0; !causal && i < weights.size(); ++i)
    masked.cells.push_back(weights[i] == 0 && !run.model->patterns ? 1 : 0);
  return masked;
}

/// The matrices of an answer about a head; of its stages in the order of Stage.
auto matrices_of(auto& answer) {
  if constexpr (requires { answer.values.scores; })
    return std::array{&answer.values.scores, &answer.values.scaled, &answer.values.masked,
                      &answer.values.pattern};
  else
    return std::array{&answer.values};
}

/// The differences of an answer's cells from their counterparts in the baseline's; `without`: of a query or a
/// key that has none. Masked is what is masked in both, or has no counterpart.
template <class A>
A minus_counterparts(A after, const A& before, float without, const PromptRun& run) {
  const auto there = [](const std::vector<int>& aligned, int position) {
    return aligned.empty() ? position : aligned[position];
  };
  const auto matrices = matrices_of(after);
  const auto matrices_before = matrices_of(before);
  const int keys = after.masked.length, queries = static_cast<int>(std::ssize(*matrices[0]) / keys);
  MaskedCells masked{{}, keys};
  bool causal = queries == keys;
  for (int query = 0; query < queries; ++query) {
    const int row = there(run.aligned, query);
    for (int key = 0; key < keys; ++key) {
      const int col = there(aligned_keys(run), key);
      const bool known = row >= 0 && col >= 0;
      const std::ptrdiff_t counterpart = std::ptrdiff_t{row} * before.masked.length + col;
      for (std::size_t i = 0; i < matrices.size(); ++i) {
        float& value = (*matrices[i])[masked.cells.size()];
        value = known ? difference(value, (*matrices_before[i])[counterpart]) : without;
      }
      const bool both = !known || (after.masked(query, key) && before.masked(row, col));
      masked.cells.push_back(both ? 1 : 0);
      causal &= both == (key > query);
    }
  }
  if (causal) masked.cells.clear();
  after.masked = std::move(masked);
  return after;
}

}  // namespace

int MaskedCells::end_of(int query) const {
  if (causal()) return query + 1;
  int end = length;
  while (end > query + 1 && (*this)(query, end - 1)) --end;
  return end;
}

int MaskedCells::count_of(int query) const {
  if (causal()) return query + 1;
  const auto row = cells.begin() + std::ptrdiff_t{query} * length;
  return static_cast<int>(std::count(row, row + length, std::uint8_t{0}));
}

std::vector<model::HeadIndex> all_heads(const model::Config& config) {
  std::vector<model::HeadIndex> heads;
  for (int layer = 0; layer < config.n_layer; ++layer)
    for (int head = 0; head < config.n_head; ++head) heads.push_back({layer, head});
  return heads;
}

void pattern_of(const PromptRun& run, int layer, int head, std::span<float> out) {
  if (run.model->patterns) return run.model->patterns->read(layer, head, 0, out);
  run.model->transformer->pattern(*run.run, layer, head, out);
}

void patterns_of(const PromptRun& run, std::span<const model::HeadIndex> heads, const Resources& with,
                 const model::PatternVisitor& visit) {
  if (!run.model->patterns)
    return run.model->transformer->patterns(*run.run, heads, with.workspace, visit, with.stop);
  constexpr int kBlock = 1 << 18;  // weights
  const PatternFile& file = *run.model->patterns;
  const int queries = file.query_count(), keys = file.key_count(), rows = std::max(1, kBlock / keys);
  std::vector<float> block;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    with.poll();
    for (int first = 0; first < queries; first += rows) {
      const int count = std::min(rows, queries - first);
      block.resize(std::ptrdiff_t{count} * keys);
      file.read(heads[i].layer, heads[i].head, first, block);
      visit(i, first, model::rows_of(block, keys));
    }
  }
}

std::vector<std::uint8_t> masked_cells(const PromptRun& run, model::HeadIndex head, int first_query,
                                       model::ConstFloatRows weights) {
  const std::ptrdiff_t cols = weights.cols;
  if (run.model->patterns) {
    if (run.model->patterns->causal()) return {};
    return std::vector<std::uint8_t>(weights.rows * cols);
  }
  const model::Run& kept = *run.run;
  if (kept.plan == nullptr || !kept.plan->edits_cells(head.layer, head.head)) return {};
  std::vector<std::uint8_t> masked(weights.rows * cols, 1);
  const model::HeadCache of_head = model::head_of(kept, head.layer, head.head);
  const int keys = std::min(weights.cols, model::keys_for(kept, of_head, first_query + weights.rows - 1));
  // Applies the edits to scores of 0: which scores are −∞ does not depend on the original values.
  std::vector<float> scores(std::ptrdiff_t{weights.rows} * keys);
  const model::FloatRows rows = model::rows_of(scores, keys);
  model::scale_and_mask(kept, of_head, first_query, rows);
  for (int i = 0; i < weights.rows; ++i)
    for (int key = 0; key < keys; ++key)
      masked[i * cols + key] = rows.row(i)[key] == -INFINITY && weights.row(i)[key] == 0 ? 1 : 0;
  return masked;
}

MaskedCells masked_cells(const PromptRun& run, model::HeadIndex head, std::span<const float> pattern) {
  const int keys = key_count(run);
  return {masked_cells(run, head, 0, {pattern.data(), run.run->length(), keys, keys}), keys};
}

bool sees_later(const PromptRun& run, model::HeadIndex head) {
  if (run.model->patterns) return !run.model->patterns->causal();
  return run.run->plan != nullptr && run.run->plan->sees_future(head.layer, head.head);
}

int end_of_keys(const PromptRun& run, model::HeadIndex head, int query) {
  return sees_later(run, head) ? key_count(run) : query + 1;
}

bool may_see(const PromptRun& run, model::HeadIndex head, int query, int key) {
  if (run.model->patterns) return key < key_count(run) && (key <= query || sees_later(run, head));
  if (key <= query || !sees_later(run, head)) return key <= query;
  const auto sets_cell = [&](const auto& edit) {
    return KindOf<decltype(edit)>::fills(edit, head, query, key);
  };
  const model::Plan& plan = *run.run->plan;
  return plan.sees(head.layer, head.head, query, key) ||
         std::ranges::any_of(plan.edits(),
                             [&](const model::Edit& edit) { return std::visit(sets_cell, edit); });
}

bool acts_on_head(const model::Edit& edit, model::HeadIndex head) {
  const auto is_its = [&](int layer, const std::optional<int>& chosen) {
    return layer == head.layer && chosen.value_or(head.head) == head.head;
  };
  return std::visit(
      [&](const auto& one) {
        if constexpr (requires { one.at; })
          return model::has_heads(one.at.point.site) && is_its(one.at.point.layer, one.at.head);
        else if constexpr (requires { one.point; })
          return is_its(one.point.layer, one.head);
        else if constexpr (requires { one.sees; })
          return is_its(one.layer.value_or(head.layer), one.head);
        else
          return false;
      },
      edit);
}

bool edits_head(const PromptRun& run, model::HeadIndex head, std::initializer_list<model::Site> sites) {
  const model::Plan* plan = run.run->plan.get();
  return plan != nullptr && std::ranges::any_of(plan->edits(), [&](const model::Edit& edit) {
           return std::ranges::count(sites, model::point_of(edit).site) > 0 && acts_on_head(edit, head);
         });
}

Pattern Pattern::minus(const Pattern& before, const PromptRun& run) const {
  return minus_counterparts(*this, before, 0, run);
}

Pattern PatternOf::compute(const PromptRun& run, const Computation<Pattern>&) const {
  Pattern pattern;
  pattern.length = run.run->length();
  pattern.values.resize(std::ptrdiff_t{pattern.length} * key_count(run));
  pattern_of(run, layer, head, pattern.values);
  pattern.masked = masked_cells(run, {layer, head}, pattern.values);
  return pattern;
}

Stages Stages::minus(const Stages& before, const PromptRun& run) const {
  return minus_counterparts(*this, before, NAN, run);
}

viz::Matrix Stages::matrix(Stage stage) const {
  return viz::Matrix::row_major(*matrices_of(*this)[static_cast<std::size_t>(stage)], values.length,
                                values.length);
}

Stages StagesOf::compute(const PromptRun& run, const Computation<Stages>&) const {
  Stages stages{run.model->transformer->attention(*run.run, layer, head), {}};
  stages.masked = masked_cells(run, {layer, head}, stages.values.pattern);
  return stages;
}

template <class Q>
AnswerOf<Q> OverHeads<Q>::compute(const PromptRun& run, const Computation<AnswerOf<Q>>& computation) const {
  const model::Config& config = run.run->config;
  const bool all = heads == Heads::mean, largest = heads == Heads::layer_max;
  const int first = all ? 0 : layer * config.n_head, count = (all ? config.n_layer : 1) * config.n_head;
  AnswerOf<Q> answer;
  std::vector<std::vector<double>> cells(matrices_of(answer).size());
  bool causal = true;
  for (int i = first; i < first + count; ++i) {
    computation.poll();
    answer = Q{i / config.n_head, i % config.n_head}.compute(run, computation);
    causal &= answer.masked.causal();
    for (std::size_t m = 0; m < cells.size(); ++m) {
      const std::vector<float>& values = *matrices_of(answer)[m];
      cells[m].resize(values.size(), largest ? -INFINITY : 0);
      for (std::size_t cell = 0; cell < values.size(); ++cell) {
        const auto value = static_cast<double>(values[cell]);
        cells[m][cell] = largest ? std::max(cells[m][cell], value) : cells[m][cell] + value / count;
      }
    }
  }
  for (std::size_t m = 0; m < cells.size(); ++m)
    std::ranges::transform(cells[m], matrices_of(answer)[m]->begin(),
                           [](double cell) { return static_cast<float>(cell); });
  answer.masked = masked_together(run, causal, *matrices_of(answer).back());
  return answer;
}
template struct OverHeads<PatternOf>;
template struct OverHeads<WeightedValuesOf>;
template struct OverHeads<StagesOf>;

std::vector<float> softmax_of(std::vector<float> scores, float scale) {
  model::fastest_kernels().rows.softmax(scale, scores.data(), static_cast<int>(scores.size()));
  return scores;
}

SoftmaxRow SoftmaxRowOf::compute(const PromptRun& run, const Computation<SoftmaxRow>&) const {
  return {run.model->transformer->attention_row(*run.run, layer, head, query, min_keys)};
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
  const float part = 0.5F / static_cast<float>(heads);
  std::vector<float> pattern(cells), step(cells), rollout;
  for (int l = 0; l <= layer; ++l) {
    std::ranges::fill(step, 0.F);
    for (std::ptrdiff_t i = 0; i < cells; i += length + 1) step[i] = 0.5F;
    for (int head = 0; head < heads; ++head) {
      computation.poll();
      pattern_of(run, l, head, pattern);
      for (std::ptrdiff_t i = 0; i < cells; ++i) step[i] += part * pattern[i];
    }
    if (l == 0) {
      rollout = step;
      continue;
    }
    model::multiply(model::rows_of(step, length), model::rows_of(rollout, length), computation.workspace,
                    model::rows_of(pattern, length));
    std::swap(rollout, pattern);
  }
  const model::Plan* plan = run.run->plan.get();
  bool causal = !run.model->patterns || run.model->patterns->causal();
  for (int l = 0; l <= layer; ++l) causal &= plan == nullptr || !plan->edits_cells(l);
  const MaskedCells masked = masked_together(run, causal, rollout);
  return {length, std::move(rollout), masked};
}

}  // namespace headscope::app
