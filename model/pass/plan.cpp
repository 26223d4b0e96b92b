#include "model/pass/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

namespace headscope::model {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();
constexpr std::size_t kSites = static_cast<std::size_t>(Site::logits) + 1;

/// Of q, k, v and z a piece holds all heads side by side, of scores, patterns and results one.
bool holds_all_heads(Site site) {
  return has_heads(site) && !is_of_cells(site) && site != Site::result;
}

std::size_t place_of(HookPoint point) {
  return static_cast<std::size_t>(in_block(point.site) ? point.layer : 0) * kSites +
         static_cast<std::size_t>(point.site);
}

std::vector<int> slots_of(const std::vector<int>& positions) {
  if (positions.empty()) return {};
  std::vector<int> slots(static_cast<std::size_t>(std::ranges::max(positions)) + 1, -1);
  for (std::size_t i = 0; i < positions.size(); ++i)
    slots[static_cast<std::size_t>(positions[i])] = static_cast<int>(i);
  return slots;
}

/// The first query whose row of the mask is not the causal one.
int first_change(const SetMask& mask) {
  const auto n = static_cast<int>(mask.sees.size());
  for (int query = 0; query < n; ++query)
    for (int key = 0; key < n; ++key)
      if (mask.sees[static_cast<std::size_t>(query)][static_cast<std::size_t>(key)] != (key <= query))
        return query;
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

/// Whether a row of a pattern comes from a query that saw more keys than its new place has.
bool reaches_future(const PatchFrom& patch) {
  if (!is_of_cells(patch.at.point.site)) return false;
  for (std::size_t i = 0; i < patch.positions.size(); ++i)
    if (patch.positions[i] > patch.at.positions[i]) return true;
  return false;
}

bool reaches_future(const SetCells& set) {
  return std::ranges::any_of(set.cells, [](const CellValue& cell) { return cell.key > cell.query; });
}

/// Where a value comes from that is one for all or one for each.
float at_or_first(std::span<const float> values, int i) {
  return values.size() == 1 ? values.front() : values[static_cast<std::size_t>(i)];
}

/// The cells of a head's rows, then what is left of each row.
void set_cells(const SetCells& set, const Activation2d& piece) {
  std::map<int, double> sums;
  for (const CellValue& cell : set.cells) {
    const int row = cell.query - piece.first_pos;
    if (row < 0 || row >= piece.rows || cell.key >= piece.cols) continue;
    piece.row(row)[static_cast<std::size_t>(cell.key)] = cell.value;
    sums[row] += 0;
  }
  if (!set.renormalise) return;
  for (auto& [row, others] : sums) {
    const std::span<float> weights = piece.row(row);
    std::vector<bool> is_set(weights.size());
    double set_sum = 0;
    for (const CellValue& cell : set.cells)
      if (cell.query == piece.first_pos + row && cell.key < piece.cols)
        is_set[static_cast<std::size_t>(cell.key)] = true;
    for (std::size_t key = 0; key < weights.size(); ++key)
      (is_set[key] ? set_sum : others) += static_cast<double>(weights[key]);
    if (others <= 0) continue;  // nothing to make larger or smaller
    const auto factor = static_cast<float>((1 - set_sum) / others);
    for (std::size_t key = 0; key < weights.size(); ++key)
      if (!is_set[key]) weights[key] *= factor;
  }
}

/// Whether `a` comes before `b` in a pass.
bool is_before(const Config& config, HookPoint a, HookPoint b) {
  const auto layer = [&](HookPoint point) {
    return in_block(point.site) ? point.layer : point.site < Site::resid_pre ? -1 : config.n_layer;
  };
  return std::pair(layer(a), a.site) < std::pair(layer(b), b.site);
}

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
      by_point_(static_cast<std::size_t>(config.n_layer) * kSites) {
  const std::size_t heads =
      static_cast<std::size_t>(config.n_layer) * static_cast<std::size_t>(config.n_head);
  masks_.resize(heads);
  cells_.resize(heads);
  future_.resize(heads);
  for (std::size_t i = 0; i < sources.size(); ++i) ops_[i].source = std::move(sources[i]);
  first_position_ = config.n_ctx;
  for (std::size_t i = 0; i < edits_.size(); ++i) {
    check(config_, edits_[i]);
    add_op(i);
  }
  if (needs_whole_run_) first_position_ = 0;
}

std::size_t Plan::index(int layer, int head) const {
  return static_cast<std::size_t>(layer) * static_cast<std::size_t>(config_.n_head) +
         static_cast<std::size_t>(head);
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
  const Edit& edit = edits_[i];
  const HookPoint point = point_of(edit);
  if (is_before(config_, point, first_point_)) first_point_ = point;
  int first = 0;
  if (const auto* mask = std::get_if<SetMask>(&edit)) {
    for (int layer = mask->layer.value_or(0); layer < (mask->layer ? *mask->layer + 1 : config_.n_layer);
         ++layer) {
      mark_cells({Site::attn_scores, layer}, mask->head, has_future(*mask));
      for (int head = mask->head.value_or(0); head < (mask->head ? *mask->head + 1 : config_.n_head); ++head)
        masks_[index(layer, head)] = mask;
    }
    first = first_change(*mask);
  } else if (const auto* ids = std::get_if<SetPositionIds>(&edit)) {
    position_ids_ = ids;
    while (first < std::ssize(ids->ids) && ids->ids[static_cast<std::size_t>(first)] == first) ++first;
  } else if (const auto* cells = std::get_if<SetCells>(&edit)) {
    by_point_[place_of(point)].push_back(i);
    mark_cells(point, cells->head, reaches_future(*cells));
    first = std::ranges::min(cells->cells, {}, &CellValue::query).query;
  } else {
    by_point_[place_of(point)].push_back(i);
    std::visit(
        [&](const auto& kind) {
          using Kind = std::remove_cvref_t<decltype(kind)>;
          if constexpr (requires { kind.at; }) {
            ops_[i].slots = slots_of(kind.at.positions);
            bool future = false;
            if constexpr (std::is_same_v<Kind, PatchFrom>) future = reaches_future(kind);
            if (is_of_cells(point.site)) mark_cells(point, kind.at.head, future);
            needs_whole_run_ |= std::is_same_v<Kind, SetMean>;
            // Where results are changed all of them are added up, which rounds unlike the clean run's
            // product.
            first = point.site == Site::result ? 0 : first_of(kind.at.positions);
          }
        },
        edit);
  }
  first_position_ = std::min(first_position_, first);
}

bool Plan::sees(int layer, int head, int query, int key) const {
  const SetMask* mask = masks_[index(layer, head)];
  if (mask == nullptr) return key <= query;
  const auto n = static_cast<int>(mask->sees.size());
  if (n == 0) return true;
  if (query >= n || key >= n) return key <= query;
  return mask->sees[static_cast<std::size_t>(query)][static_cast<std::size_t>(key)];
}

void Plan::hide(int layer, int head, int first_query, FloatRows scores) const {
  for (int i = 0; i < scores.rows; ++i)
    for (int key = 0; key < scores.cols; ++key)
      if (!sees(layer, head, first_query + i, key)) scores.row(i)[static_cast<std::size_t>(key)] = kHidden;
}

int Plan::row_of_wpe(int position) const {
  if (position_ids_ == nullptr || position >= std::ssize(position_ids_->ids)) return position;
  return position_ids_->ids[static_cast<std::size_t>(position)];
}

Means Plan::no_means() const {
  Means means(edits_.size());
  for (std::size_t i = 0; i < means.size(); ++i) {
    const auto* mean = std::get_if<SetMean>(&edits_[i]);
    if (mean == nullptr) continue;
    const Site site = mean->at.point.site;
    means[i].resize(static_cast<std::size_t>(has_heads(site) ? config_.n_head : 1) *
                    static_cast<std::size_t>(unit_count(config_, site)));
  }
  return means;
}

/// Calls body(position, head, unit, index of the value, value) for what of the piece is of the place:
/// `unit` counts in the activation, the index in the place's list. Of cells the unit is the key, index 0, and
/// only keys are taken that the query sees.
template <class Body>
void Plan::for_each_value(std::size_t op, const EditedPlace& at, const Activation2d& piece,
                          const Body& body) const {
  const Site site = piece.point.site;
  const bool all_heads = holds_all_heads(site), cells = is_of_cells(site);
  if (!all_heads && at.head && *at.head != piece.head) return;
  const int width = all_heads ? config_.d_head() : piece.cols;
  const int first_head = all_heads ? at.head.value_or(0) : piece.head;
  const int heads = all_heads && !at.head ? config_.n_head : 1;
  for (int i = 0; i < piece.rows; ++i) {
    const int position = piece.first_pos + i;
    if (!is_in(op, position)) continue;
    for (int head = first_head; head < first_head + heads; ++head) {
      float* values = piece.row(i).data() + (all_heads ? head * width : 0);
      if (cells) {
        for (int key = 0; key < width; ++key)
          if (sees(piece.point.layer, head, position, key)) body(position, head, key, 0, values[key]);
      } else if (at.units.empty()) {
        for (int j = 0; j < width; ++j)
          body(position, head, piece.first_col + j, piece.first_col + j, values[j]);
      } else {
        for (int k = 0; k < std::ssize(at.units); ++k) {
          const int unit = at.units[static_cast<std::size_t>(k)], j = unit - piece.first_col;
          if (j >= 0 && j < width) body(position, head, unit, k, values[j]);
        }
      }
    }
  }
}

bool Plan::is_in(std::size_t op, int position) const {
  const std::vector<int>& slots = ops_[op].slots;
  if (slots.empty()) return true;
  return position < std::ssize(slots) && slots[static_cast<std::size_t>(position)] >= 0;
}

void Plan::put_patch(std::size_t op, const PatchFrom& patch, const Activation2d& piece) const {
  const Site site = piece.point.site;
  const Source& source = *ops_[op].source;
  const bool own_part = has_heads(site) && !holds_all_heads(site);
  const std::vector<float>& part = source.parts[own_part ? static_cast<std::size_t>(piece.head) : 0];
  /// The source's row for a position; empty: it does not go so far.
  const auto row_for = [&](int position) -> std::span<const float> {
    const int from =
        patch.positions.empty()
            ? position
            : patch.positions[static_cast<std::size_t>(ops_[op].slots[static_cast<std::size_t>(position)])];
    if (from >= source.rows) return {};
    return std::span(part).subspan(static_cast<std::size_t>(from) * static_cast<std::size_t>(source.columns),
                                   static_cast<std::size_t>(source.columns));
  };
  if (!is_of_cells(site)) {
    const int width = holds_all_heads(site) ? config_.d_head() : 0;
    for_each_value(op, patch.at, piece, [&](int position, int head, int unit, int, float& value) {
      const std::span<const float> row = row_for(position);
      if (!row.empty()) value = row[static_cast<std::size_t>(head * width + unit)];
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
  const std::size_t width = static_cast<std::size_t>(unit_count(config_, piece.point.site));
  const std::size_t first =
      holds_all_heads(piece.point.site) ? 0 : static_cast<std::size_t>(piece.head) * width;
  for (int col = 0; col < piece.cols; ++col) {
    double sum = 0;
    for (int i = 0; i < piece.rows; ++i)
      sum += static_cast<double>(piece.row(i)[static_cast<std::size_t>(col)]);
    means[op][first + static_cast<std::size_t>(col)] = static_cast<float>(sum / piece.rows);
  }
}

void Plan::apply_op(std::size_t op, const Activation2d& piece, const Means& means) const {
  const auto put = [&](const auto& kind) {
    using Kind = std::remove_cvref_t<decltype(kind)>;
    if constexpr (std::is_same_v<Kind, SetCells>) {
      if (!kind.head || *kind.head == piece.head) set_cells(kind, piece);
    } else if constexpr (std::is_same_v<Kind, SetValues>) {
      for_each_value(op, kind.at, piece,
                     [&](int, int, int, int i, float& value) { value = at_or_first(kind.values, i); });
    } else if constexpr (std::is_same_v<Kind, SetMean>) {
      const int width = unit_count(config_, piece.point.site);
      for_each_value(op, kind.at, piece, [&](int, int head, int unit, int, float& value) {
        value = means[op][static_cast<std::size_t>(head * width + unit)];
      });
    } else if constexpr (std::is_same_v<Kind, ScaleValues>) {
      for_each_value(op, kind.at, piece, [&](int, int, int, int, float& value) {
        if (value != kHidden) value *= kind.factor;
      });
    } else if constexpr (std::is_same_v<Kind, AddVector>) {
      for_each_value(op, kind.at, piece, [&](int, int, int, int i, float& value) {
        value += kind.factor * at_or_first(kind.vector, i);
      });
    } else if constexpr (std::is_same_v<Kind, PatchFrom>) {
      put_patch(op, kind, piece);
    }
  };
  std::visit(put, edits_[op]);
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
