#pragma once
// Edits applied directly, without plans.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "model/pass/edits.h"

namespace headscope::model {

/// The values of an activation, for one head if the site has heads: [pos][units], or [query][key].
using Values = std::vector<std::vector<double>>;

/// The values of another run at a site, by head.
using SourceValues = std::map<int, Values>;

/// Applies one edit directly at its own site, without a plan.
class ByHand {
 public:
  ByHand(const Edit& what, const SourceValues& source) : what_(what), source_(source) {}

  void operator()(int head, Values& rows) const {
    if (const auto* set = std::get_if<SetCells>(&what_)) {
      if (!set->head || *set->head == head) cells(*set, rows);
      return;
    }
    const EditSite at = place();
    if (at.head && *at.head != head) return;
    for (std::size_t pos = 0; pos < rows.size(); ++pos) {
      const auto listed = std::ranges::find(at.positions, static_cast<int>(pos));
      if (!at.positions.empty() && listed == at.positions.end()) continue;
      const auto slot = static_cast<std::size_t>(listed - at.positions.begin());
      for (std::size_t unit = 0; unit < rows[pos].size(); ++unit) {
        const auto in_units = std::ranges::find(at.units, static_cast<int>(unit));
        if (!at.units.empty() && in_units == at.units.end()) continue;
        if (has_cells(at.point.site) && unit > pos && !std::get_if<PatchFrom>(&what_)) continue;  // hidden
        const std::size_t i = at.units.empty() ? unit : static_cast<std::size_t>(in_units - at.units.begin());
        put(rows, pos, unit, i, slot, head);
      }
    }
  }

 private:
  EditSite place() const {
    EditSite at;
    std::visit(
        [&](const auto& kind) {
          if constexpr (requires { kind.at; }) at = kind.at;
        },
        what_);
    return at;
  }

  void put(Values& rows, std::size_t pos, std::size_t unit, std::size_t i, std::size_t slot, int head) const {
    double& value = rows[pos][unit];
    const EditSite at = place();
    const std::size_t units = at.units.empty() ? rows[pos].size() : at.units.size();
    const auto of = [&](const std::vector<float>& list) {
      if (list.size() == 1) return static_cast<double>(list[0]);
      return static_cast<double>(list[list.size() == units ? i : static_cast<std::size_t>(head) * units + i]);
    };
    if (const auto* set = std::get_if<SetValues>(&what_)) value = of(set->values);
    if (const auto* scale = std::get_if<ScaleValues>(&what_)) value *= static_cast<double>(scale->factor);
    if (const auto* add = std::get_if<AddVector>(&what_))
      value += static_cast<double>(add->factor) * of(add->vector);
    if (std::get_if<SetMean>(&what_)) {
      if (means_.size() <= static_cast<std::size_t>(head)) means_.resize(static_cast<std::size_t>(head) + 1);
      std::vector<double>& means = means_[head];
      if (means.empty()) {
        for (std::size_t u = 0; u < rows[0].size(); ++u) {
          double sum = 0;
          for (const auto& row : rows) sum += row[u];
          means.push_back(sum / static_cast<double>(rows.size()));
        }
      }
      value = means[unit];
    }
    if (const auto* patch = std::get_if<PatchFrom>(&what_)) {
      const std::size_t from =
          patch->positions.empty() ? pos : static_cast<std::size_t>(patch->positions[slot]);
      const Values& source = source_.at(head);
      if (from >= source.size()) return;
      const bool missing = unit >= source[from].size();
      const double hidden =
          patch->at.point.site == Site::pattern ? 0 : -std::numeric_limits<double>::infinity();
      value = missing ? hidden : source[from][unit];
    }
  }

  static void cells(const SetCells& set, Values& rows) {
    for (std::size_t query = 0; query < rows.size(); ++query) {
      std::set<int> mine;
      for (const CellValue& cell : set.cells)
        if ((cell.query == static_cast<int>(query) ||
             (cell.query == CellValue::kAllQueries && cell.key <= static_cast<int>(query))) &&
            cell.key < std::ssize(rows)) {
          rows[query][cell.key] = static_cast<double>(cell.value);
          mine.insert(cell.key);
        }
      if (!set.renormalise || mine.empty()) continue;
      double own = 0, others = 0;
      for (std::size_t key = 0; key < rows.size(); ++key)
        (mine.contains(static_cast<int>(key)) ? own : others) += rows[query][key];
      for (std::size_t key = 0; key < rows.size(); ++key)
        if (!mine.contains(static_cast<int>(key)) && others > 0) rows[query][key] *= (1 - own) / others;
    }
  }

  const Edit& what_;
  const SourceValues& source_;
  mutable std::vector<std::vector<double>> means_;
};

}  // namespace headscope::model
