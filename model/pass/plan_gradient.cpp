#include <algorithm>
#include <ranges>
#include <vector>

#include "model/pass/plan_values.h"

namespace headscope::model {
namespace {

/// Sets the derivatives of set cells to 0; the others' are those of weights that are rescaled so that the row
/// adds up to 1. weights: the row before it was edited.
void rescaled_gradient(std::span<const float> weights, const std::vector<bool>& is_set, double set_sum,
                       std::span<float> gradient) {
  double others = 0, weighted = 0;
  for (std::size_t key = 0; key < gradient.size(); ++key) {
    if (is_set[key]) continue;
    others += static_cast<double>(weights[key]);
    weighted += static_cast<double>(weights[key]) * gradient[key];
  }
  const bool rescaled = others > 0;  // as in the pass, which leaves a row without other weights as it is
  const double factor = rescaled ? (1 - set_sum) / others : 1, shared = rescaled ? weighted / others : 0;
  for (std::size_t key = 0; key < gradient.size(); ++key)
    gradient[key] = is_set[key] ? 0.0F : static_cast<float>(factor * (gradient[key] - shared));
}

}  // namespace

void Plan::cells_gradient(std::size_t op, const SetCells& set, const Activation2d& gradient,
                          const Means& means, ConstFloatRows before) const {
  if (set.head && *set.head != gradient.head) return;
  if (!set.renormalise)
    return for_each_cell(set, gradient,
                         [&](int row, const CellValue& cell) { gradient.row(row)[cell.key] = 0; });
  std::vector<float> weights(static_cast<std::size_t>(gradient.cols));  // of one row, as this edit finds it
  std::vector<bool> is_set;
  for (int i = 0; i < gradient.rows; ++i) {
    const Activation2d found{gradient.point, gradient.head, gradient.first_pos + i, 0, 1,
                             gradient.cols,  gradient.cols, weights.data()};
    is_set.assign(static_cast<std::size_t>(gradient.cols), false);
    for_each_cell(set, found, [&](int, const CellValue& cell) {
      is_set[cell.key] = true;
      weights[cell.key] = cell.value;  // the last value of a cell that is set twice
    });
    if (std::ranges::find(is_set, true) == is_set.end()) continue;
    double set_sum = 0;
    for (std::size_t key = 0; key < is_set.size(); ++key)
      if (is_set[key]) set_sum += static_cast<double>(weights[key]);
    std::ranges::copy(before.row(i), weights.begin());
    for (const std::size_t earlier : ops_at(gradient.point)) {
      if (earlier == op) break;
      apply_op(earlier, found, means);
    }
    rescaled_gradient(weights, is_set, set_sum, gradient.row(i));
  }
}

void Plan::mean_gradient(std::size_t op, const SetMean& mean, const Activation2d& gradient) const {
  const HookPoint point = gradient.point;
  const int width = unit_count(config_, point.site);
  const bool all_heads = holds_all_heads(point.site);
  std::vector<double> sums(static_cast<std::size_t>(all_heads ? config_.n_head : 1) * width);
  for_each_value(op, mean.at, gradient, [&](int, int head, int unit, int, float& value) {
    sums[(all_heads ? head * width : 0) + unit] += static_cast<double>(value);
    value = 0;
  });
  for (int i = 0; i < gradient.rows; ++i)
    for (int col = 0; col < gradient.cols; ++col)
      gradient.row(i)[col] += static_cast<float>(sums[gradient.first_col + col] / gradient.rows);
}

void Plan::patch_gradient(std::size_t op, const PatchFrom& patch, const Activation2d& gradient) const {
  const auto is_patched = [&](int position) {
    return !source_row(op, patch, gradient.point, gradient.head, position).empty();
  };
  if (!has_cells(gradient.point.site)) {
    for_each_value(op, patch.at, gradient, [&](int position, int, int, int, float& value) {
      if (is_patched(position)) value = 0;
    });
    return;
  }
  if (patch.at.head && *patch.at.head != gradient.head) return;
  for (int i = 0; i < gradient.rows; ++i) {
    const int position = gradient.first_pos + i;
    if (is_in(op, position) && is_patched(position)) std::ranges::fill(gradient.row(i), 0.0F);
  }
}

void Plan::op_gradient(std::size_t op, const Activation2d& gradient, const Means& means,
                       ConstFloatRows before) const {
  std::visit(EachKind{
                 [&](const SetValues& set) {
                   for_each_value(op, set.at, gradient, [](int, int, int, int, float& v) { v = 0; });
                 },
                 [&](const SetMean& mean) { mean_gradient(op, mean, gradient); },
                 [&](const ScaleValues& scale) {
                   for_each_value(op, scale.at, gradient,
                                  [&](int, int, int, int, float& v) { v *= scale.factor; });
                 },
                 [](const AddVector&) {},
                 [&](const SetCells& set) { cells_gradient(op, set, gradient, means, before); },
                 [&](const PatchFrom& patch) { patch_gradient(op, patch, gradient); },
                 [](const SetMask&) {},  // see below
                 [](const SetPositionIds&) {},
             },
             edits_[op]);
}

void Plan::apply_gradient(const Activation2d& gradient, const Means& means, ConstFloatRows before) const {
  for (const std::size_t op : std::views::reverse(ops_at(gradient.point)))
    op_gradient(op, gradient, means, before);
  if (gradient.point.site != Site::attn_scores) return;
  for (int i = 0; i < gradient.rows; ++i)
    for (int key = 0; key < gradient.cols; ++key)
      if (!sees(gradient.point.layer, gradient.head, gradient.first_pos + i, key)) gradient.row(i)[key] = 0;
}

}  // namespace headscope::model
