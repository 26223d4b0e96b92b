#include "app/run/analyses/patterns.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include "app/run/edits/edit_kinds.h"
#include "app/run/sources/pattern_file.h"
#include "model/files/error.h"
#include "model/pass/attention.h"
#include "model/pass/plan.h"

namespace headscope::app {

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
  if (run.model->patterns) {
    run.model->patterns->read(layer, head, 0, out);
  } else {
    run.model->transformer->pattern(*run.run, layer, head, out);
  }
}

void patterns_of(const PromptRun& run, std::span<const model::HeadIndex> heads, model::Workspace& workspace,
                 const model::PatternVisitor& visit, std::stop_token stop) {
  if (!run.model->patterns) return run.model->transformer->patterns(*run.run, heads, workspace, visit, stop);
  constexpr int kBlock = 1 << 18;  // weights
  const PatternFile& file = *run.model->patterns;
  const int queries = file.query_count(), keys = file.key_count(), rows = std::max(1, kBlock / keys);
  std::vector<float> block;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (stop.stop_requested()) throw model::Stopped();
    for (int first = 0; first < queries; first += rows) {
      const int count = std::min(rows, queries - first);
      block.resize(std::ptrdiff_t{count} * keys);
      file.read(heads[i].layer, heads[i].head, first, block);
      visit(i, first, {block.data(), count, keys, keys});
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
  const model::HeadCache of_head = model::head_of(kept.config, kept.pages, head.layer, head.head);
  const int keys = std::min(weights.cols, model::keys_for(kept, of_head, first_query + weights.rows - 1));
  // Applies the edits to scores of 0: which scores are −∞ does not depend on the original values.
  std::vector<float> scores(std::ptrdiff_t{weights.rows} * keys);
  const model::FloatRows rows{scores.data(), weights.rows, keys, keys};
  model::mask_scores(kept, of_head, first_query, rows);
  for (int i = 0; i < weights.rows; ++i) {
    for (int key = 0; key < keys; ++key) {
      const bool hidden = rows.row_data(i)[key] == -INFINITY && weights.row_data(i)[key] == 0;
      masked[i * cols + key] = hidden ? 1 : 0;
    }
  }
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
  const model::Plan& plan = *run.run->plan;
  return plan.sees(head.layer, head.head, query, key) ||
         std::ranges::any_of(plan.edits(),
                             [&](const model::Edit& edit) { return sets_cell(edit, head, query, key); });
}

bool acts_on_head(const model::Edit& edit, model::HeadIndex head) {
  return std::visit(
      [&](const auto& one) {
        using Kind = std::remove_cvref_t<decltype(one)>;
        if constexpr (std::is_same_v<Kind, model::SetPositionIds>) {
          return false;
        } else if constexpr (std::is_same_v<Kind, model::SetMask>) {
          return one.layer.value_or(head.layer) == head.layer && one.head.value_or(head.head) == head.head;
        } else if constexpr (std::is_same_v<Kind, model::SetCells>) {
          return one.point.layer == head.layer && one.head.value_or(head.head) == head.head;
        } else {
          const model::HookPoint point = one.at.point;
          return model::has_heads(point.site) && point.layer == head.layer &&
                 one.at.head.value_or(head.head) == head.head;
        }
      },
      edit);
}

bool sets_cell(const model::Edit& edit, model::HeadIndex head, int query, int key) {
  return std::visit([&](const auto& one) { return KindOf<decltype(one)>::fills(one, head, query, key); },
                    edit);
}

}  // namespace headscope::app
