#include "model/pass/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "model/pass/plan_values.h"

namespace headscope::model {
namespace {

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

}  // namespace

void Plan::set_cells(const SetCells& set, const Activation2d& piece) const {
  std::map<int, std::vector<bool>> set_in_rows;  // by row, for each key whether it is set
  for_each_cell(set, piece, [&](int row, const CellValue& cell) {
    piece.row(row)[cell.key] = cell.value;
    if (!set.renormalise) return;
    std::vector<bool>& is_set = set_in_rows[row];
    is_set.resize(static_cast<std::size_t>(piece.cols));
    is_set[cell.key] = true;
  });
  for (const auto& [row, is_set] : set_in_rows) {
    const std::span<float> weights = piece.row(row);
    double set_sum = 0, others = 0;
    for (std::size_t key = 0; key < weights.size(); ++key)
      (is_set[key] ? set_sum : others) += static_cast<double>(weights[key]);
    if (others <= 0) continue;  // nothing to rescale
    const auto factor = static_cast<float>((1 - set_sum) / others);
    for (std::size_t key = 0; key < weights.size(); ++key)
      if (!is_set[key]) weights[key] *= factor;
  }
}

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
  for (std::size_t i = 0; i < sources.size(); ++i) ops_[i].source = std::move(sources[i]);
  first_position_ = config.n_ctx;
  for (std::size_t i = 0; i < edits_.size(); ++i) {
    check(config_, edits_[i]);
    add_op(i);
    if (ops_[i].source != nullptr && ops_[i].source->depends_on_later) needs_whole_run_ = true;
  }
  if (needs_whole_run_) first_position_ = 0;
}

std::size_t Plan::index(int layer, int head) const {
  return static_cast<std::size_t>(layer) * config_.n_head + head;
}

std::span<const std::size_t> Plan::ops_at(HookPoint point) const {
  return by_point_[place_of(point)];
}

bool Plan::takes_means(HookPoint point) const {
  return std::ranges::any_of(ops_at(point),
                             [&](std::size_t op) { return std::holds_alternative<SetMean>(edits_[op]); });
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

void Plan::add_op(std::size_t i) {
  const HookPoint point = point_of(edits_[i]);
  if (comes_before(config_, point, first_point_)) first_point_ = point;
  const int first =
      std::visit(EachKind{
                     [&](const SetValues& set) { return add_values(i, set.at); },
                     [&](const SetMean& mean) {
                       needs_whole_run_ = true;
                       return add_values(i, mean.at);
                     },
                     [&](const ScaleValues& scale) { return add_values(i, scale.at); },
                     [&](const AddVector& add) { return add_values(i, add.at); },
                     [&](const SetCells& set) { return add_cells(i, set); },
                     [&](const PatchFrom& patch) { return add_values(i, patch.at, reaches_future(patch)); },
                     [&](const SetMask& mask) { return add_mask(mask); },
                     [&](const SetPositionIds& set) { return add_position_ids(set); },
                 },
                 edits_[i]);
  first_position_ = std::min(first_position_, first);
}

int Plan::add_values(std::size_t op, const EditSite& at, bool future) {
  by_point_[place_of(at.point)].push_back(op);
  ops_[op].slots = slots_of(at.positions);
  if (has_cells(at.point.site)) mark_cells(at.point, at.head, future);
  // If results are edited, all of them are summed, which rounds differently from the unedited run's product.
  return at.point.site == Site::result ? 0 : first_of(at.positions);
}

int Plan::add_cells(std::size_t op, const SetCells& set) {
  by_point_[place_of(set.point)].push_back(op);
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

bool Plan::is_in(std::size_t op, int position) const {
  const std::vector<int>& slots = ops_[op].slots;
  if (slots.empty()) return true;
  return position < std::ssize(slots) && slots[position] >= 0;
}

std::span<const float> Plan::source_row(std::size_t op, const PatchFrom& patch, HookPoint point, int head,
                                        int position) const {
  const Source& source = *ops_[op].source;
  const bool own_part = has_heads(point.site) && !holds_all_heads(point.site);
  const int from = patch.positions.empty() ? position : patch.positions[ops_[op].slots[position]];
  if (from >= source.rows) return {};
  return std::span(source.parts[own_part ? head : 0])
      .subspan(static_cast<std::size_t>(from) * source.columns, static_cast<std::size_t>(source.columns));
}

void Plan::put_patch(std::size_t op, const PatchFrom& patch, const Activation2d& piece) const {
  const Site site = piece.point.site;
  const auto row_for = [&](int position) { return source_row(op, patch, piece.point, piece.head, position); };
  if (!has_cells(site)) {
    const int width = holds_all_heads(site) ? config_.d_head() : 0;
    for_each_value(op, patch.at, piece, [&](int position, int head, int unit, int, float& value) {
      const std::span<const float> row = row_for(position);
      if (!row.empty()) value = row[head * width + unit];
    });
    return;
  }
  if (patch.at.head && *patch.at.head != piece.head) return;
  for (int i = 0; i < piece.rows; ++i) {
    if (!is_in(op, piece.first_pos + i)) continue;
    const std::span<const float> from = row_for(piece.first_pos + i);
    if (from.empty()) continue;
    const std::span<float> to = piece.row(i);
    std::ranges::fill(to, site == Site::pattern ? 0.0F : kHidden);
    std::ranges::copy(from.first(std::min(from.size(), to.size())), to.begin());
  }
}

void Plan::find_mean(std::size_t op, const Activation2d& piece, Means& means) const {
  const auto* mean = std::get_if<SetMean>(&edits_[op]);
  if (mean == nullptr) return;
  const int first =
      holds_all_heads(piece.point.site) ? 0 : piece.head * unit_count(config_, piece.point.site);
  for (int col = 0; col < piece.cols; ++col) {
    double sum = 0;
    for (int i = 0; i < piece.rows; ++i) sum += static_cast<double>(piece.row(i)[col]);
    means[op][first + col] = static_cast<float>(sum / piece.rows);
  }
}

void Plan::apply_op(std::size_t op, const Activation2d& piece, const Means& means) const {
  const auto each = [&](const EditSite& at, const auto& body) { for_each_value(op, at, piece, body); };
  std::visit(EachKind{
                 [&](const SetValues& set) {
                   const ValuesOf values(config_, set.at, set.values);
                   each(set.at, [&](int, int head, int, int i, float& v) { v = values.at(head, i); });
                 },
                 [&](const SetMean& mean) {
                   const int width = unit_count(config_, piece.point.site);
                   each(mean.at,
                        [&](int, int head, int unit, int, float& v) { v = means[op][head * width + unit]; });
                 },
                 [&](const ScaleValues& scale) {
                   each(scale.at, [&](int, int, int, int, float& v) {
                     if (v != kHidden) v *= scale.factor;
                   });
                 },
                 [&](const AddVector& add) {
                   const ValuesOf values(config_, add.at, add.vector);
                   each(add.at,
                        [&](int, int head, int, int i, float& v) { v += add.factor * values.at(head, i); });
                 },
                 [&](const SetCells& set) {
                   if (!set.head || *set.head == piece.head) set_cells(set, piece);
                 },
                 [&](const PatchFrom& patch) { put_patch(op, patch, piece); },
                 [](const SetMask&) {},  // applied by hide()
                 [](const SetPositionIds&) {},
             },
             edits_[op]);
}

void Plan::apply(const Activation2d& piece, const Means& means) const {
  for (const std::size_t op : ops_at(piece.point)) apply_op(op, piece, means);
}

void Plan::apply_to_all(const Activation2d& piece, Means& means) const {
  for (const std::size_t op : ops_at(piece.point)) {
    find_mean(op, piece, means);
    apply_op(op, piece, means);
  }
}

}  // namespace headscope::model
