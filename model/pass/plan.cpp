#include "model/pass/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "model/pass/each_kind.h"

namespace headscope::model {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();  // the score of a masked key

constexpr std::size_t kSiteCount = static_cast<std::size_t>(Site::logits) + 1;

std::size_t place_of(HookPoint point) {
  return (in_block(point.site) ? point.layer : 0) * kSiteCount + static_cast<std::size_t>(point.site);
}

std::vector<int> slots_of(const std::vector<int>& positions) {
  if (positions.empty()) return {};
  std::vector<int> slots(static_cast<std::size_t>(std::ranges::max(positions)) + 1, -1);
  for (std::size_t i = 0; i < positions.size(); ++i) slots[positions[i]] = static_cast<int>(i);
  return slots;
}

/// The first query whose mask row is not causal.
int first_edited_position(const SetMask& mask) {
  const auto n = static_cast<int>(mask.sees.size());
  for (int query = 0; query < n; ++query)
    for (int key = 0; key < n; ++key)
      if (mask.sees[query][key] != (key <= query)) return query;
  return n;
}

bool has_future(const SetMask& mask) {
  if (mask.sees.empty()) return true;
  for (std::size_t query = 0; query < mask.sees.size(); ++query)
    for (std::size_t key = query + 1; key < mask.sees.size(); ++key)
      if (mask.sees[query][key]) return true;
  return false;
}

int first_of(const std::vector<int>& positions) {
  return positions.empty() ? 0 : std::ranges::min(positions);
}

/// Whether a row of a pattern is copied from a query that saw more keys than exist at its new position.
bool reaches_future(const PatchFrom& patch) {
  if (!has_cells(patch.at.point.site)) return false;
  for (std::size_t i = 0; i < patch.positions.size(); ++i)
    if (patch.positions[i] > patch.at.positions[i]) return true;
  return false;
}

bool reaches_future(const SetCells& set) {
  return std::ranges::any_of(set.cells, [](const CellValue& cell) {
    return cell.query != CellValue::kAllQueries && cell.key > cell.query;
  });
}

/// The values of a place: one for all, one for each unit, or one for each unit of each head.
class ValuesOf {
 public:
  ValuesOf(const Config& config, const EditSite& at, std::span<const float> values) : values_(values) {
    const std::size_t units =
        at.units.empty() ? static_cast<std::size_t>(unit_count(config, at.point.site)) : at.units.size();
    if (values.size() > units) of_a_head_ = units;
  }
  /// The value for the place's i-th unit in a head.
  float at(int head, int i) const {
    if (values_.size() == 1) return values_.front();
    return values_[static_cast<std::size_t>(head) * of_a_head_ + static_cast<std::size_t>(i)];
  }

 private:
  std::span<const float> values_;
  std::size_t of_a_head_ = 0;  // 0: all heads have the same
};

/// Whether a piece holds all heads side by side, as for q, k, v and z. For scores, patterns and results it
/// holds one.
bool holds_all_heads(Site site) {
  return has_heads(site) && !has_cells(site) && site != Site::result;
}

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

/// One edit and a piece of the activation that it acts on.
class Action {
 public:
  Action(const Config& config, const Plan& plan, const Plan::Op& op, const Activation2d& piece)
      : config_(config), plan_(plan), op_(op), piece_(piece), site_(piece.point.site) {}

  void apply(const Means& means) const {
    std::visit(
        EachKind{
            [&](const SetValues& set) {
              const ValuesOf values(config_, set.at, set.values);
              for_each_value(set.at, [&](int, int head, int, int i, float& v) { v = values.at(head, i); });
            },
            [&](const SetMean& mean) {
              const int width = unit_count(config_, site_);
              for_each_value(mean.at, [&](int, int head, int unit, int, float& v) {
                v = means[op_.index][head * width + unit];
              });
            },
            [&](const ScaleValues& scale) {
              for_each_value(scale.at, [&](int, int, int, int, float& v) {
                if (v != kHidden) v *= scale.factor;
              });
            },
            [&](const AddVector& add) {
              const ValuesOf values(config_, add.at, add.vector);
              for_each_value(
                  add.at, [&](int, int head, int, int i, float& v) { v += add.factor * values.at(head, i); });
            },
            [&](const SetCells& set) { set_cells(set); },
            [&](const PatchFrom& patch) { put(patch); },
            [](const SetMask&) {},  // applied by hide()
            [](const SetPositionIds&) {},
        },
        *op_.edit);
  }

  /// Computes the mean of a SetMean from a piece with all positions.
  void find_mean(Means& means) const {
    if (!std::holds_alternative<SetMean>(*op_.edit)) return;
    const int first = holds_all_heads(site_) ? 0 : piece_.head * unit_count(config_, site_);
    for (int col = 0; col < piece_.cols; ++col) {
      double sum = 0;
      for (int i = 0; i < piece_.rows; ++i) sum += static_cast<double>(piece_.row(i)[col]);
      means[op_.index][first + col] = static_cast<float>(sum / piece_.rows);
    }
  }

  /// For a piece of derivatives, see Plan::apply_gradient. earlier: the edits of the point before this one.
  void apply_gradient(const Means& means, ConstFloatRows before,
                      std::span<const Plan::Op* const> earlier) const {
    std::visit(EachKind{
                   [&](const SetValues& set) {
                     for_each_value(set.at, [](int, int, int, int, float& v) { v = 0; });
                   },
                   [&](const SetMean& mean) { mean_gradient(mean); },
                   [&](const ScaleValues& scale) {
                     for_each_value(scale.at, [&](int, int, int, int, float& v) { v *= scale.factor; });
                   },
                   [](const AddVector&) {},
                   [&](const SetCells& set) { cells_gradient(set, means, before, earlier); },
                   [&](const PatchFrom& patch) { patch_gradient(patch); },
                   [](const SetMask&) {},  // see Plan::apply_gradient
                   [](const SetPositionIds&) {},
               },
               *op_.edit);
  }

 private:
  bool acts_at(int position) const {
    return op_.slots.empty() || (position < std::ssize(op_.slots) && op_.slots[position] >= 0);
  }

  /// Calls body(row, cell) for the set cells of the piece, in their order.
  template <class Body>
  void for_each_cell(const SetCells& set, const Body& body) const {
    if (set.head && *set.head != piece_.head) return;
    for (const CellValue& cell : set.cells) {
      if (cell.key >= piece_.cols) continue;
      if (cell.query != CellValue::kAllQueries) {
        const int row = cell.query - piece_.first_pos;
        if (row >= 0 && row < piece_.rows) body(row, cell);
        continue;
      }
      for (int row = 0; row < piece_.rows; ++row)
        if (plan_.sees(piece_.point.layer, piece_.head, piece_.first_pos + row, cell.key)) body(row, cell);
    }
  }

  /// Calls body(position, head, unit, index of the value, value) for the part of the piece that lies in the
  /// place: `unit` counts in the activation, the index in the place's list. For scores and patterns the unit
  /// is the key, the index is 0, and only keys that the query sees are visited.
  template <class Body>
  void for_each_value(const EditSite& at, const Body& body) const {
    const bool all_heads = holds_all_heads(site_), cells = has_cells(site_);
    if (!all_heads && at.head && *at.head != piece_.head) return;
    const int width = all_heads ? config_.d_head() : piece_.cols;
    const int first_head = all_heads ? at.head.value_or(0) : piece_.head;
    const int heads = all_heads && !at.head ? config_.n_head : 1;
    for (int i = 0; i < piece_.rows; ++i) {
      const int position = piece_.first_pos + i;
      if (!acts_at(position)) continue;
      for (int head = first_head; head < first_head + heads; ++head) {
        float* values = piece_.row(i).data() + (all_heads ? head * width : 0);
        if (cells) {
          for (int key = 0; key < width; ++key)
            if (plan_.sees(piece_.point.layer, head, position, key))
              body(position, head, key, 0, values[key]);
        } else if (at.units.empty()) {
          for (int j = 0; j < width; ++j)
            body(position, head, piece_.first_col + j, piece_.first_col + j, values[j]);
        } else {
          for (int k = 0; k < std::ssize(at.units); ++k) {
            const int unit = at.units[k], j = unit - piece_.first_col;
            if (j >= 0 && j < width) body(position, head, unit, k, values[j]);
          }
        }
      }
    }
  }

  /// The row that is copied to a position; empty: the source is shorter.
  std::span<const float> source_row(const PatchFrom& patch, int position) const {
    const Plan::Source& source = *op_.source;
    const int from = patch.positions.empty() ? position : patch.positions[op_.slots[position]];
    if (from >= source.rows) return {};
    const auto columns = static_cast<std::size_t>(source.columns);
    return std::span(source.parts[source.parts.size() > 1 ? piece_.head : 0])
        .subspan(from * columns, columns);
  }

  /// Calls body(row of a patched query, the source's row) for scores and patterns.
  template <class Body>
  void for_patched_queries(const PatchFrom& patch, const Body& body) const {
    if (patch.at.head && *patch.at.head != piece_.head) return;
    for (int i = 0; i < piece_.rows; ++i) {
      if (!acts_at(piece_.first_pos + i)) continue;
      if (const auto from = source_row(patch, piece_.first_pos + i); !from.empty()) body(piece_.row(i), from);
    }
  }

  void put(const PatchFrom& patch) const {
    if (has_cells(site_))
      return for_patched_queries(patch, [&](std::span<float> to, std::span<const float> from) {
        std::ranges::fill(to, site_ == Site::pattern ? 0.0F : kHidden);
        std::ranges::copy(from.first(std::min(from.size(), to.size())), to.begin());
      });
    const int width = holds_all_heads(site_) ? config_.d_head() : 0;
    for_each_value(patch.at, [&](int position, int head, int unit, int, float& value) {
      const std::span<const float> row = source_row(patch, position);
      if (!row.empty()) value = row[head * width + unit];
    });
  }

  void patch_gradient(const PatchFrom& patch) const {
    if (has_cells(site_))
      return for_patched_queries(
          patch, [](std::span<float> row, std::span<const float>) { std::ranges::fill(row, 0.0F); });
    for_each_value(patch.at, [&](int position, int, int, int, float& value) {
      if (!source_row(patch, position).empty()) value = 0;
    });
  }

  void mean_gradient(const SetMean& mean) const {
    const int width = unit_count(config_, site_);
    const bool all_heads = holds_all_heads(site_);
    std::vector<double> sums(static_cast<std::size_t>(all_heads ? config_.n_head : 1) * width);
    for_each_value(mean.at, [&](int, int head, int unit, int, float& value) {
      sums[(all_heads ? head * width : 0) + unit] += static_cast<double>(value);
      value = 0;
    });
    for (int i = 0; i < piece_.rows; ++i)
      for (int col = 0; col < piece_.cols; ++col)
        piece_.row(i)[col] += static_cast<float>(sums[piece_.first_col + col] / piece_.rows);
  }

  /// Sets the cells of a head's rows, then rescales the rest of each row.
  void set_cells(const SetCells& set) const {
    std::map<int, std::vector<bool>> set_in_rows;  // by row, for each key whether it is set
    for_each_cell(set, [&](int row, const CellValue& cell) {
      piece_.row(row)[cell.key] = cell.value;
      if (!set.renormalise) return;
      std::vector<bool>& is_set = set_in_rows[row];
      is_set.resize(static_cast<std::size_t>(piece_.cols));
      is_set[cell.key] = true;
    });
    for (const auto& [row, is_set] : set_in_rows) {
      const std::span<float> weights = piece_.row(row);
      double set_sum = 0, others = 0;
      for (std::size_t key = 0; key < weights.size(); ++key)
        (is_set[key] ? set_sum : others) += static_cast<double>(weights[key]);
      if (others <= 0) continue;  // nothing to rescale
      const auto factor = static_cast<float>((1 - set_sum) / others);
      for (std::size_t key = 0; key < weights.size(); ++key)
        if (!is_set[key]) weights[key] *= factor;
    }
  }

  void cells_gradient(const SetCells& set, const Means& means, ConstFloatRows before,
                      std::span<const Plan::Op* const> earlier) const {
    if (!set.renormalise)
      return for_each_cell(set, [&](int row, const CellValue& cell) { piece_.row(row)[cell.key] = 0; });
    std::vector<float> weights(static_cast<std::size_t>(piece_.cols));  // of one row, as this edit finds it
    std::vector<bool> is_set;
    for (int i = 0; i < piece_.rows; ++i) {
      const Activation2d found{piece_.point, piece_.head, piece_.first_pos + i, 0, 1,
                               piece_.cols,  piece_.cols, weights.data()};
      is_set.assign(weights.size(), false);
      Action(config_, plan_, op_, found).for_each_cell(set, [&](int, const CellValue& cell) {
        is_set[cell.key] = true;
        weights[cell.key] = cell.value;  // the last value of a cell that is set twice
      });
      if (std::ranges::find(is_set, true) == is_set.end()) continue;
      double set_sum = 0;
      for (std::size_t key = 0; key < is_set.size(); ++key)
        if (is_set[key]) set_sum += static_cast<double>(weights[key]);
      std::ranges::copy(before.row(i), weights.begin());
      for (const Plan::Op* op : earlier) Action(config_, plan_, *op, found).apply(means);
      rescaled_gradient(weights, is_set, set_sum, piece_.row(i));
    }
  }

  const Config& config_;
  const Plan& plan_;
  const Plan::Op& op_;
  const Activation2d& piece_;
  Site site_;
};

}  // namespace

std::size_t Plan::source_bytes() const {
  std::set<const Source*> sources;
  std::size_t sum = 0;
  for (const Op& op : ops_)
    if (op.source != nullptr && sources.insert(op.source.get()).second)
      for (const auto& part : op.source->parts) sum += part.size() * sizeof(float);
  return sum;
}

bool same_edits(const Plan* a, const Plan* b) {
  if (a == b) return true;
  return a != nullptr && b != nullptr && a->edits() == b->edits();
}

Plan::Plan(const Config& config, Edits edits, std::vector<std::shared_ptr<const Source>> sources)
    : config_(config),
      edits_(std::move(edits)),
      ops_(edits_.size()),
      by_point_(static_cast<std::size_t>(config.n_layer) * kSiteCount) {
  const std::size_t heads = index(config.n_layer, 0);
  masks_.resize(heads);
  cells_.resize(heads);
  future_.resize(heads);
  first_position_ = config.n_ctx;
  for (std::size_t i = 0; i < edits_.size(); ++i) {
    check(config_, edits_[i]);
    ops_[i] = {i, &edits_[i], {}, std::move(sources[i])};
    add(ops_[i]);
    if (ops_[i].source != nullptr && ops_[i].source->depends_on_later) needs_whole_run_ = true;
  }
  if (needs_whole_run_) first_position_ = 0;
}

std::span<const Plan::Op* const> Plan::ops_at(HookPoint point) const {
  return by_point_[place_of(point)];
}

bool Plan::takes_means(HookPoint point) const {
  return std::ranges::any_of(ops_at(point),
                             [](const Op* op) { return std::holds_alternative<SetMean>(*op->edit); });
}

bool Plan::edits_cells(int layer) const {
  for (int head = 0; head < config_.n_head; ++head)
    if (edits_cells(layer, head)) return true;
  return false;
}

void Plan::mark_cells(HookPoint point, const std::optional<int>& head, bool future) {
  for (int h = head.value_or(0); h < (head ? *head + 1 : config_.n_head); ++h) {
    cells_[index(point.layer, h)] = true;
    if (future) future_[index(point.layer, h)] = true;
  }
  needs_whole_run_ |= future;
}

void Plan::add(Op& op) {
  const HookPoint point = point_of(*op.edit);
  if (comes_before(config_, point, first_point_)) first_point_ = point;
  const int first =
      std::visit(EachKind{
                     [&](const SetValues& set) { return add_values(op, set.at); },
                     [&](const SetMean& mean) {
                       needs_whole_run_ = true;
                       return add_values(op, mean.at);
                     },
                     [&](const ScaleValues& scale) { return add_values(op, scale.at); },
                     [&](const AddVector& add) { return add_values(op, add.at); },
                     [&](const SetCells& set) { return add_cells(op, set); },
                     [&](const PatchFrom& patch) { return add_values(op, patch.at, reaches_future(patch)); },
                     [&](const SetMask& mask) { return add_mask(mask); },
                     [&](const SetPositionIds& set) { return add_position_ids(set); },
                 },
                 *op.edit);
  first_position_ = std::min(first_position_, first);
}

int Plan::add_values(Op& op, const EditSite& at, bool future) {
  by_point_[place_of(at.point)].push_back(&op);
  op.slots = slots_of(at.positions);
  if (has_cells(at.point.site)) mark_cells(at.point, at.head, future);
  // If results are edited, all of them are summed, which rounds differently from the unedited run's product.
  return at.point.site == Site::result ? 0 : first_of(at.positions);
}

int Plan::add_cells(Op& op, const SetCells& set) {
  by_point_[place_of(set.point)].push_back(&op);
  mark_cells(set.point, set.head, reaches_future(set));
  // With a causal mask all queries that see a key come after it; another one needs the whole run anyway.
  const auto first_query = [](const CellValue& cell) {
    return cell.query == CellValue::kAllQueries ? cell.key : cell.query;
  };
  return first_query(std::ranges::min(set.cells, {}, first_query));
}

int Plan::add_mask(const SetMask& mask) {
  for (int layer = mask.layer.value_or(0); layer < (mask.layer ? *mask.layer + 1 : config_.n_layer);
       ++layer) {
    mark_cells({Site::attn_scores, layer}, mask.head, has_future(mask));
    for (int head = mask.head.value_or(0); head < (mask.head ? *mask.head + 1 : config_.n_head); ++head)
      masks_[index(layer, head)] = &mask;
  }
  return first_edited_position(mask);
}

int Plan::add_position_ids(const SetPositionIds& set) {
  position_ids_ = &set;
  int first = 0;
  while (first < std::ssize(set.ids) && set.ids[first] == first) ++first;
  return first;
}

bool Plan::sees(int layer, int head, int query, int key) const {
  const SetMask* mask = masks_[index(layer, head)];
  if (mask == nullptr) return key <= query;
  const auto n = static_cast<int>(mask->sees.size());
  if (n == 0) return true;
  if (query >= n || key >= n) return key <= query;
  return mask->sees[query][key];
}

void Plan::hide(int layer, int head, int first_query, FloatRows scores) const {
  for (int i = 0; i < scores.rows; ++i)
    for (int key = 0; key < scores.cols; ++key)
      if (!sees(layer, head, first_query + i, key)) scores.row(i)[key] = kHidden;
}

int Plan::row_of_wpe(int position) const {
  if (position_ids_ == nullptr || position >= std::ssize(position_ids_->ids)) return position;
  return position_ids_->ids[position];
}

Means Plan::no_means() const {
  Means means(edits_.size());
  for (std::size_t i = 0; i < means.size(); ++i) {
    const auto* mean = std::get_if<SetMean>(&edits_[i]);
    if (mean == nullptr) continue;
    const Site site = mean->at.point.site;
    means[i].resize(static_cast<std::size_t>(has_heads(site) ? config_.n_head : 1) *
                    unit_count(config_, site));
  }
  return means;
}

void Plan::apply(const Activation2d& piece, const Means& means) const {
  for (const Op* op : ops_at(piece.point)) Action(config_, *this, *op, piece).apply(means);
}

void Plan::apply_to_all(const Activation2d& piece, Means& means) const {
  for (const Op* op : ops_at(piece.point)) {
    const Action action(config_, *this, *op, piece);
    action.find_mean(means);
    action.apply(means);
  }
}

void Plan::apply_gradient(const Activation2d& gradient, const Means& means, ConstFloatRows before) const {
  const std::span<const Op* const> ops = ops_at(gradient.point);
  for (std::size_t i = ops.size(); i-- > 0;)
    Action(config_, *this, *ops[i], gradient).apply_gradient(means, before, ops.first(i));
  if (gradient.point.site != Site::attn_scores) return;
  for (int i = 0; i < gradient.rows; ++i)
    for (int key = 0; key < gradient.cols; ++key)
      if (!sees(gradient.point.layer, gradient.head, gradient.first_pos + i, key)) gradient.row(i)[key] = 0;
}

}  // namespace headscope::model
