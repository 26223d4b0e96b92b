#include "app/run/edits/masked_cells.h"

#include <algorithm>
#include <cmath>

#include "app/run/edits/edit_kinds.h"
#include "model/pass/attention.h"
#include "model/pass/plan.h"

namespace headscope::app {
namespace {

/// What changes the head's scores, mask or pattern; null: nothing does.
const model::Plan* cell_plan(const model::Run& run, model::HeadIndex head) {
  const model::Plan* plan = run.plan.get();
  return plan != nullptr && plan->edits_cells(head.layer, head.head) ? plan : nullptr;
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
  const auto row = cells.begin() + static_cast<std::ptrdiff_t>(query) * length;
  return static_cast<int>(std::count(row, row + length, std::uint8_t{0}));
}

std::vector<std::uint8_t> masked_cells(const model::Run& run, model::HeadIndex head, int first_query,
                                       model::ConstFloatRows weights) {
  if (cell_plan(run, head) == nullptr) return {};
  const auto cols = static_cast<std::size_t>(weights.cols);
  std::vector<std::uint8_t> masked(static_cast<std::size_t>(weights.rows) * cols, 1);
  const model::KeptHead kept = model::head_of(run.config, run.pages, head.layer, head.head);
  const int keys = std::min(weights.cols, model::keys_for(run, kept, first_query + weights.rows - 1));
  // What becomes of scores of 0: which of them are −∞ does not depend on what they were.
  std::vector<float> scores(static_cast<std::size_t>(weights.rows) * static_cast<std::size_t>(keys));
  const model::FloatRows rows{scores.data(), weights.rows, keys, keys};
  model::mask_scores(run, kept, first_query, rows);
  for (int i = 0; i < weights.rows; ++i) {
    for (int key = 0; key < keys; ++key) {
      const bool hidden = rows.row_data(i)[key] == -INFINITY && weights.row_data(i)[key] == 0;
      masked[static_cast<std::size_t>(i) * cols + static_cast<std::size_t>(key)] = hidden ? 1 : 0;
    }
  }
  return masked;
}

MaskedCells masked_cells(const model::Run& run, model::HeadIndex head, std::span<const float> pattern) {
  const int length = run.length();
  return {masked_cells(run, head, 0, {pattern.data(), length, length, length}), length};
}

int end_of_keys(const model::Run& run, model::HeadIndex head, int query) {
  const model::Plan* plan = cell_plan(run, head);
  return plan != nullptr && plan->sees_future(head.layer, head.head) ? run.length() : query + 1;
}

bool may_see(const model::Run& run, model::HeadIndex head, int query, int key) {
  if (key <= query) return true;
  const model::Plan* plan = cell_plan(run, head);
  if (plan == nullptr || !plan->sees_future(head.layer, head.head)) return false;
  return plan->sees(head.layer, head.head, query, key) ||
         std::ranges::any_of(plan->edits(), [&](const model::Edit& edit) {
           return std::visit(
               [&](const auto& one) { return KindOf<decltype(one)>::fills(one, head, query, key); }, edit);
         });
}

}  // namespace headscope::app
