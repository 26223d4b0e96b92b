#include "model/pass/plan.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <ranges>
#include <set>
#include <utility>
#include <variant>

#include "model/pass/each_kind.h"

namespace headscope::model {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();  // the score of a masked key

/// The index that is named, or all of `count`.
auto indices(const std::optional<int>& named, int count) {
  return std::views::iota(named.value_or(0), named ? *named + 1 : count);
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

/// The columns of a head; of scores and patterns, the keys of the longest prompt.
int width_of(const Config& config, Site site) {
  return has_cells(site) ? config.n_ctx : unit_count(config, site);
}

/// The columns of a place, with the values that are given for it: one for all of them, for each unit of a
/// head, or for each column.
std::vector<Plan::Column> columns_of(const Config& config, const EditSite& at,
                                     std::span<const float> values) {
  const int width = width_of(config, at.point.site);
  std::vector<int> units = at.units;
  if (units.empty()) std::ranges::copy(std::views::iota(0, width), std::back_inserter(units));
  std::vector<Plan::Column> columns;
  for (const int head : indices(at.head, has_heads(at.point.site) ? config.n_head : 1))
    for (const int unit : units)
      columns.push_back({head * width + unit, values.empty() ? 0 : values[columns.size() % values.size()]});
  std::ranges::stable_sort(columns, {}, &Plan::Column::index);
  return columns;
}

/// The keys of a row that an edit sets, and the sums of their weights and of the other ones, which are
/// rescaled so that the row adds up to 1.
struct SetKeys {
  std::vector<bool> are_set = {};
  double sum = 0, others = 0;
};

/// One edit and a piece of the activation that it acts on.
class Action {
 public:
  Action(const Config& config, const Plan& plan, const Plan::Op& op, const Activation2d& piece)
      : config_(config), plan_(plan), op_(op), piece_(piece), site_(piece.point.site) {}

  void apply(const Means& means) const {
    std::visit(
        EachKind{
            [&](const SetValues&) { for_each_value([](int, Plan::Column at, float& v) { v = at.value; }); },
            [&](const SetMean&) {
              for_each_value([&](int, Plan::Column at, float& v) { v = means[op_.index][at.index]; });
            },
            [&](const ScaleValues& scale) {
              for_each_value([&](int, Plan::Column, float& v) {
                if (v != kHidden) v *= scale.factor;
              });
            },
            [&](const AddVector& add) {
              for_each_value([&](int, Plan::Column at, float& v) { v += add.factor * at.value; });
            },
            [&](const SetCells& set) { set_cells(set); },
            [&](const PatchFrom&) { for_each_patched([](float& value, float from) { value = from; }); },
            [](const SetMask&) {},  // see Plan::apply
            [](const SetPositionIds&) {},
        },
        *op_.edit);
  }

  /// Computes the mean of a SetMean from a piece with all positions.
  void find_mean(Means& means) const {
    if (!std::holds_alternative<SetMean>(*op_.edit)) return;
    const int first = first_column();
    means[op_.index].resize(column_count(config_, site_));
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
                   [&](const SetValues&) { for_each_value([](int, Plan::Column, float& v) { v = 0; }); },
                   [&](const SetMean&) { mean_gradient(); },
                   [&](const ScaleValues& scale) {
                     for_each_value([&](int, Plan::Column, float& v) { v *= scale.factor; });
                   },
                   [](const AddVector&) {},
                   [&](const SetCells& set) { cells_gradient(set, means, before, earlier); },
                   [&](const PatchFrom&) { for_each_patched([](float& value, float) { value = 0; }); },
                   [](const SetMask&) {},  // see Plan::apply_gradient
                   [](const SetPositionIds&) {},
               },
               *op_.edit);
  }

 private:
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

  /// The place of the piece's first column among those of the activation.
  int first_column() const { return piece_.head * width_of(config_, site_); }

  /// Calls body(position in a source, column, value) for the part of the piece that is edited; of scores and
  /// patterns, which are patched as a whole, other edits have only the keys that the query sees.
  template <class Body>
  void for_each_value(const Body& body) const {
    const int first = first_column();
    const bool only_seen = has_cells(site_) && op_.source == nullptr;
    const auto begin = std::ranges::lower_bound(op_.columns, first, {}, &Plan::Column::index),
               end = std::ranges::lower_bound(op_.columns, first + piece_.cols, {}, &Plan::Column::index);
    for (int i = 0; i < piece_.rows; ++i) {
      const int position = piece_.first_pos + i;
      const auto named = op_.positions.find(position);
      if (named == op_.positions.end() && !op_.positions.empty()) continue;
      const int from = named == op_.positions.end() ? position : named->second;
      for (auto column = begin; column != end; ++column) {
        const int col = column->index - first;
        if (!only_seen || plan_.sees(piece_.point.layer, piece_.head, position, col))
          body(from, *column, piece_.row(i)[col]);
      }
    }
  }

  /// Calls body(value, what is copied to it) for the values of the piece that the source has.
  template <class Body>
  void for_each_patched(const Body& body) const {
    const Plan::Source& source = *op_.source;
    const float beyond = site_ == Site::attn_scores ? kHidden : 0;  // the source's last key
    for_each_value([&](int position, Plan::Column at, float& value) {
      if (position >= source.rows) return;
      const std::span<const float> row = source.row(position);
      if (!has_cells(site_)) return body(value, row[at.index]);
      const int key = at.index - first_column();
      body(value, key < source.rows ? row[piece_.head * source.rows + key] : beyond);
    });
  }

  void mean_gradient() const {
    std::vector<double> sums(piece_.cols);
    for_each_value([&, first = first_column()](int, Plan::Column at, float& value) {
      sums[at.index - first] += static_cast<double>(value);
      value = 0;
    });
    for (int i = 0; i < piece_.rows; ++i)
      for (int col = 0; col < piece_.cols; ++col)
        piece_.row(i)[col] += static_cast<float>(sums[col] / piece_.rows);
  }

  /// Sets cells; returns the rows that have any.
  std::map<int, SetKeys> put_cells(const SetCells& set) const {
    std::map<int, SetKeys> rows;
    for_each_cell(set, [&](int row, const CellValue& cell) {
      piece_.row(row)[cell.key] = cell.value;
      rows[row].are_set.resize(piece_.cols);
      rows[row].are_set[cell.key] = true;
    });
    for (auto& [row, keys] : rows)
      for (int key = 0; key < piece_.cols; ++key)
        (keys.are_set[key] ? keys.sum : keys.others) += static_cast<double>(piece_.row(row)[key]);
    return rows;
  }

  void set_cells(const SetCells& set) const {
    for (const auto& [row, keys] : put_cells(set)) {
      if (!set.renormalise || keys.others <= 0) continue;
      const auto factor = static_cast<float>((1 - keys.sum) / keys.others);
      for (int key = 0; key < piece_.cols; ++key)
        if (!keys.are_set[key]) piece_.row(row)[key] *= factor;
    }
  }

  void cells_gradient(const SetCells& set, const Means& means, ConstFloatRows before,
                      std::span<const Plan::Op* const> earlier) const {
    if (!set.renormalise)
      return for_each_cell(set, [&](int row, const CellValue& cell) { piece_.row(row)[cell.key] = 0; });
    std::vector<float> memory;
    for (int i = 0; i < before.rows; ++i) std::ranges::copy(before.row(i), std::back_inserter(memory));
    const FloatRows weights{memory.data(), before.rows, before.cols, before.cols};
    const Activation2d found = piece_of(piece_.point, weights, piece_.first_pos, piece_.head);
    for (const Plan::Op* op : earlier) Action(config_, plan_, *op, found).apply(means);
    for (const auto& [row, keys] : Action(config_, plan_, op_, found).put_cells(set)) {
      const std::span<float> gradient = piece_.row(row);
      double weighted = 0;
      for (int key = 0; key < piece_.cols; ++key)
        if (!keys.are_set[key]) weighted += static_cast<double>(weights.row(row)[key]) * gradient[key];
      const bool rescaled = keys.others > 0;  // as in set_cells
      const double factor = rescaled ? (1 - keys.sum) / keys.others : 1,
                   shared = rescaled ? weighted / keys.others : 0;
      for (int key = 0; key < piece_.cols; ++key)
        gradient[key] = keys.are_set[key] ? 0.0F : static_cast<float>(factor * (gradient[key] - shared));
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
      sum += op.source->values.size() * sizeof(float);
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
      masks_(index(config.n_layer, 0)),
      cells_(masks_.size()),
      future_(masks_.size()),
      first_position_(config.n_ctx) {
  for (std::size_t i = 0; i < edits_.size(); ++i) {
    check(config_, edits_[i]);
    ops_[i] = {i, &edits_[i], {}, {}, std::move(sources[i])};
    add(ops_[i]);
    if (ops_[i].source != nullptr && ops_[i].source->depends_on_later) needs_whole_run_ = true;
  }
  if (needs_whole_run_) first_position_ = 0;
}

std::span<const Plan::Op* const> Plan::ops_at(HookPoint point) const {
  const auto found = by_point_.find(point);
  if (found == by_point_.end()) return {};
  return found->second;
}

bool Plan::edits_cells(int layer) const {
  for (int head = 0; head < config_.n_head; ++head)
    if (edits_cells(layer, head)) return true;
  return false;
}

void Plan::mark_cells(HookPoint point, const std::optional<int>& head, bool future) {
  for (const int h : indices(head, config_.n_head)) {
    cells_[index(point.layer, h)] = true;
    if (future) future_[index(point.layer, h)] = true;
  }
  needs_whole_run_ |= future;
}

void Plan::add(Op& op) {
  const HookPoint point = point_of(*op.edit);
  first_point_ = std::min(first_point_, point);
  const int first_edited =
      std::visit(EachKind{
                     [&](const SetValues& set) { return add_values(op, set.at, set.values); },
                     [&](const SetMean& mean) {
                       needs_whole_run_ = true;
                       return add_values(op, mean.at);
                     },
                     [&](const ScaleValues& scale) { return add_values(op, scale.at); },
                     [&](const AddVector& add) { return add_values(op, add.at, add.vector); },
                     [&](const SetCells& set) { return add_cells(op, set); },
                     [&](const PatchFrom& patch) {
                       const int first = add_values(op, patch.at, {}, reaches_future(patch));
                       for (std::size_t i = 0; i < patch.positions.size(); ++i)
                         op.positions[patch.at.positions[i]] = patch.positions[i];
                       return first;
                     },
                     [&](const SetMask& mask) { return add_mask(mask); },
                     [&](const SetPositionIds& set) { return add_position_ids(set); },
                 },
                 *op.edit);
  first_position_ = std::min(first_position_, first_edited);
}

int Plan::add_values(Op& op, const EditSite& at, std::span<const float> values, bool future) {
  by_point_[at.point].push_back(&op);
  for (const int position : at.positions) op.positions[position] = position;
  op.columns = columns_of(config_, at, values);
  if (has_cells(at.point.site)) mark_cells(at.point, at.head, future);
  // If results are edited, all of them are summed, which rounds differently from the unedited run's product.
  if (at.point.site == Site::result || at.positions.empty()) return 0;
  return std::ranges::min(at.positions);
}

int Plan::add_cells(Op& op, const SetCells& set) {
  by_point_[set.point].push_back(&op);
  mark_cells(set.point, set.head, reaches_future(set));
  // With a causal mask all queries that see a key come after it; another one needs the whole run anyway.
  const auto first_query = [](const CellValue& cell) {
    return cell.query == CellValue::kAllQueries ? cell.key : cell.query;
  };
  return first_query(std::ranges::min(set.cells, {}, first_query));
}

int Plan::add_mask(const SetMask& mask) {
  const auto n = static_cast<int>(mask.sees.size());
  int first = n;         // the first query whose row is not causal
  bool future = n == 0;  // whether a query sees a later key
  for (int query = n - 1; query >= 0; --query)
    for (int key = 0; key < n; ++key) {
      if (mask.sees[query][key] == (key <= query)) continue;
      first = query;
      future |= key > query;
    }
  for (const int layer : indices(mask.layer, config_.n_layer)) {
    mark_cells({Site::attn_scores, layer}, mask.head, future);
    for (const int head : indices(mask.head, config_.n_head)) masks_[index(layer, head)] = &mask;
  }
  return first;
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

/// Sets the scores, or their derivatives, of keys that a query does not see.
void Plan::set_hidden(const Activation2d& cells, float value) const {
  for (int i = 0; i < cells.rows; ++i)
    for (int key = 0; key < cells.cols; ++key)
      if (!sees(cells.point.layer, cells.head, cells.first_pos + i, key)) cells.row(i)[key] = value;
}

int Plan::row_of_wpe(int position) const {
  if (position_ids_ == nullptr || position >= std::ssize(position_ids_->ids)) return position;
  return position_ids_->ids[position];
}

void Plan::apply(const Activation2d& piece, const Means& means) const {
  if (piece.point.site == Site::attn_scores) set_hidden(piece, kHidden);
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
  if (gradient.point.site == Site::attn_scores) set_hidden(gradient, 0);
}

}  // namespace headscope::model
