#pragma once
// Edits applied to the activations of the float64 reference, without plans.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/pass/edits.h"
#include "tests/support/reference_gpt2.h"
#include "tests/support/reference_pass.h"

namespace headscope::model {

using testing::value_of;

/// The values of an activation, of one head if the site has heads: [pos][units], or [query][key].
using HeadValues = std::vector<std::vector<double>>;

/// The values of a run at a site, by head.
using SourceValues = std::map<int, HeadValues>;

/// The values of a run by hook.
using RecordedValues = std::map<std::string, SourceValues>;

/// Whether a query sees a key under the masks among the edits.
inline bool sees_by_hand(const Edits& edits, int layer, int head, std::size_t query, std::size_t key) {
  bool result = key <= query;
  for (const Edit& edit : edits) {
    const auto* mask = std::get_if<SetMask>(&edit);
    if (mask == nullptr || (mask->layer && *mask->layer != layer) || (mask->head && *mask->head != head))
      continue;
    if (mask->sees.empty()) {
      result = true;
    } else {
      result = std::max(query, key) < mask->sees.size() ? mask->sees[query][key] : key <= query;
    }
  }
  return result;
}

/// The row of wpe at a position; -1: none.
inline int position_by_hand(const Edits& edits, std::size_t pos) {
  int row = static_cast<int>(pos);
  for (const Edit& edit : edits)
    if (const auto* set = std::get_if<SetPositionIds>(&edit); set != nullptr && pos < set->ids.size())
      row = set->ids[pos];
  return row;
}

/// Applies edits to the values of one site and head; `others`: the runs that patches are from.
template <class Number>
class ByHand {
 public:
  using Rows = std::vector<std::vector<Number>>;

  ByHand(const Edits& edits, const RecordedValues& others) : edits_(edits), others_(others) {}

  void operator()(const std::string& hook, int head, Rows& rows) const {
    for (const Edit& edit : edits_)
      if (hook_name(point_of(edit)) == hook) apply(edit, point_of(edit), head, rows);
  }

 private:
  static bool is_in(const std::vector<int>& list, std::size_t what) {
    return list.empty() || std::ranges::count(list, static_cast<int>(what)) > 0;
  }
  static std::size_t index_in(const std::vector<int>& list, std::size_t what) {
    if (list.empty()) return what;
    return static_cast<std::size_t>(std::ranges::find(list, static_cast<int>(what)) - list.begin());
  }
  static Number number_of(const EditSite& at, const std::vector<float>& list, int head, std::size_t width,
                          std::size_t i) {
    const std::size_t units = at.units.empty() ? width : at.units.size();
    if (list.size() > units) i += static_cast<std::size_t>(head) * units;
    return {static_cast<double>(list[list.size() == 1 ? 0 : i])};
  }

  void apply(const Edit& edit, HookPoint point, int head, Rows& rows) const {
    const Rows before = rows;
    const auto each = [&](const EditSite& at, const auto& body) {
      if (at.head && *at.head != head) return;
      for (std::size_t pos = 0; pos < rows.size(); ++pos)
        for (std::size_t unit = 0; unit < rows[pos].size(); ++unit) {
          if (!is_in(at.positions, pos) || !is_in(at.units, unit)) continue;
          if (has_cells(point.site) && !sees_by_hand(edits_, point.layer, head, pos, unit)) continue;
          body(pos, unit, index_in(at.units, unit));
        }
    };
    const std::size_t width = rows.front().size();
    if (const auto* set = std::get_if<SetValues>(&edit))
      each(set->at, [&](std::size_t pos, std::size_t unit, std::size_t i) {
        rows[pos][unit] = number_of(set->at, set->values, head, width, i);
      });
    if (const auto* scale = std::get_if<ScaleValues>(&edit))
      each(scale->at, [&](std::size_t pos, std::size_t unit, std::size_t) {
        Number& value = rows[pos][unit];
        if (value_of(value) != kHidden) value = value * Number{static_cast<double>(scale->factor)};
      });
    if (const auto* add = std::get_if<AddVector>(&edit))
      each(add->at, [&](std::size_t pos, std::size_t unit, std::size_t i) {
        rows[pos][unit] +=
            Number{static_cast<double>(add->factor)} * number_of(add->at, add->vector, head, width, i);
      });
    if (const auto* mean = std::get_if<SetMean>(&edit))
      each(mean->at, [&](std::size_t pos, std::size_t unit, std::size_t) {
        Number sum{};
        for (const auto& row : before) sum += row[unit];
        rows[pos][unit] = sum / Number{static_cast<double>(before.size())};
      });
    if (const auto* set = std::get_if<SetCells>(&edit); set && (!set->head || *set->head == head))
      set_cells(*set, point, head, rows);
    if (const auto* patch = std::get_if<PatchFrom>(&edit);
        patch && (!patch->at.head || *patch->at.head == head))
      put_patch(*patch, others_.at(hook_name(point)).at(head), rows);
  }

  void set_cells(const SetCells& set, HookPoint point, int head, Rows& rows) const {
    for (std::size_t query = 0; query < rows.size(); ++query) {
      std::set<std::size_t> keys;
      for (const CellValue& cell : set.cells) {
        const auto key = static_cast<std::size_t>(cell.key);
        const bool is_set = cell.query == CellValue::kAllQueries
                                ? key < rows.size() && sees_by_hand(edits_, point.layer, head, query, key)
                                : static_cast<std::size_t>(cell.query) == query && key < rows.size();
        if (!is_set) continue;
        rows[query][key] = {static_cast<double>(cell.value)};
        keys.insert(key);
      }
      if (!set.renormalise || keys.empty()) continue;
      Number own{}, others{};
      for (std::size_t key = 0; key < rows.size(); ++key)
        (keys.contains(key) ? own : others) += rows[query][key];
      if (value_of(others) <= 0) continue;
      for (std::size_t key = 0; key < rows.size(); ++key)
        if (!keys.contains(key)) rows[query][key] = rows[query][key] * (Number{1} - own) / others;
    }
  }

  static void put_patch(const PatchFrom& patch, const HeadValues& source, Rows& rows) {
    for (std::size_t pos = 0; pos < rows.size(); ++pos) {
      if (!is_in(patch.at.positions, pos)) continue;
      const std::size_t slot = index_in(patch.at.positions, pos),
                        from =
                            patch.positions.empty() ? pos : static_cast<std::size_t>(patch.positions[slot]);
      if (from >= source.size()) continue;
      const double missing = patch.at.point.site == Site::pattern ? 0 : kHidden;
      for (std::size_t unit = 0; unit < rows[pos].size(); ++unit)
        if (is_in(patch.at.units, unit))
          rows[pos][unit] = {unit < source[from].size() ? source[from][unit] : missing};
    }
  }

  static constexpr double kHidden = -std::numeric_limits<double>::infinity();
  const Edits& edits_;
  const RecordedValues& others_;
};

/// What a run of the reference with edits takes; `others`: the runs that patches are from. Both must outlive
/// it.
inline testing::ReferenceGpt2::Edits by_hand(const Edits& edits, const RecordedValues& others) {
  return {.edit = ByHand<double>(edits, others),
          .sees = [&](int layer, int head, std::size_t query,
                      std::size_t key) { return sees_by_hand(edits, layer, head, query, key); },
          .row_of_wpe = [&](std::size_t pos) { return position_by_hand(edits, pos); }};
}

/// The values of each activation of a run with edits.
inline RecordedValues record_by_hand(const testing::ReferenceGpt2& reference, std::span<const int> ids,
                                     const Edits& edits = {}, const RecordedValues& others = {}) {
  RecordedValues all;
  testing::ReferenceGpt2::Edits watch = by_hand(edits, others);
  watch.edit = [&, edit = watch.edit](const std::string& hook, int head, testing::ReferenceGpt2::Rows& rows) {
    edit(hook, head, rows);
    all[hook][head] = rows;
  };
  reference.run(ids, watch);
  return all;
}

/// What the patches among the edits of a run take.
inline RecordedValues sources_by_hand(const testing::ReferenceGpt2& reference, std::span<const int> ids,
                                      const Edits& edits) {
  RecordedValues sources;
  for (const Edit& edit : edits) {
    const auto* patch = std::get_if<PatchFrom>(&edit);
    if (patch == nullptr) continue;
    const std::string name = hook_name(patch->at.point);
    const std::span<const int> from = patch->tokens.empty() ? ids : std::span<const int>(patch->tokens);
    sources[name] =
        record_by_hand(reference, from, patch->edits, sources_by_hand(reference, from, patch->edits))
            .at(name);
  }
  return sources;
}

}  // namespace headscope::model
