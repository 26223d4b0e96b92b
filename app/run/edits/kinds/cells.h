#pragma once
#include <algorithm>
#include <cmath>
#include <set>

#include "app/run/edits/edit_kind.h"

namespace headscope::app {

/// Its text is a place with "[query,key]", then "=" or "~=".
template <>
struct EditKind<model::SetCells> : WholeEdit<model::SetCells> {
  using Set = model::SetCells;
  using Cells = std::vector<model::CellValue>;
  static constexpr int kAll = model::CellValue::kAllQueries;
  static constexpr std::string_view kGrammar =
      "  L3.pattern[8,3]=0            weight of query 8 on key 3; ~= also rescales the rest, to sum to 1\n"
      "  L3H0.scores[*,0]=null        mask key 0 for all queries\n";
  static std::size_t numbers(const Set& set) { return 3 * set.cells.size(); }
  static std::size_t length(const Set& set) { return set.cells.size(); }

  static Set read(EditReader& in, const Place& at, const std::vector<int>& queries,
                  const std::vector<int>& keys, bool renormalise) {
    const float value = in.take("null") ? kHiddenScore : in.number();
    const int n_ctx = in.config().n_ctx;
    for (const std::vector<int>* positions : {&queries, &keys})
      for (const int position : *positions)
        if (position >= n_ctx) in.fail("there is no position " + std::to_string(position));
    Set set{at.point, at.head, {}, renormalise};
    for (const int key : keys)
      for (const int query : queries.empty() ? std::vector{kAll} : queries)
        set.cells.push_back({query, key, value});
    return set;
  }

  static std::string text(const Set& set) {
    std::string text;
    for (const model::CellValue& cell : set.cells)
      text += (text.empty() ? "" : "; ") + point_text(set.point, set.head) + "[" +
              (cell.query == kAll ? "*" : std::to_string(cell.query)) + "," + std::to_string(cell.key) + "]" +
              (set.renormalise ? "~=" : "=") + number_text(cell.value);
    return text;
  }
  /// "key 3 masked for query 8", "weights of queries 5–9 on key 3 = 0". Of very many cells only the kind: the
  /// window says it in every frame.
  static std::string words(const Set& set, const EditNames&) {
    constexpr std::size_t kVeryMany = 4096;
    const std::string of_what = set.point.site == model::Site::pattern ? "weight" : "scaled score";
    std::string words = "L" + std::to_string(set.point.layer) + " ";
    if (set.head) words += "H" + std::to_string(*set.head) + " ";
    if (set.cells.size() > kVeryMany) return words + "many " + of_what + "s set";
    std::set<int> queries, keys;
    for (const model::CellValue& cell : set.cells) queries.insert(cell.query), keys.insert(cell.key);
    const bool all = queries.contains(kAll);
    const std::string of = all ? "all queries" : positions_words(queries, "query ", "queries "),
                      on = positions_words(keys, "key ", "keys ");
    const float value = set.cells.front().value;
    const bool one_value =
        std::ranges::all_of(set.cells, [&](const auto& cell) { return cell.value == value; });
    if (set.cells.size() != queries.size() * keys.size()) words += "some ";
    if (one_value && value == kHiddenScore) return words + on + " masked for " + of;
    words += of_what + (set.cells.size() > 1 ? "s" : "") + " of " + of + " on " + on;
    words += one_value ? " = " + number_text(value) : " set";
    return words + (set.renormalise ? ", the others rescaled" : "");
  }

  static bool replaces(const Set& next, const Set& before) {
    return next.point == before.point && next.head == before.head && next.renormalise == before.renormalise;
  }
  /// Keeps the other cells of `before`; if rows are renormalised, only those of other rows.
  static void merge(Set& next, const Set& before) {
    Cells kept = before.cells;
    take_out(kept, next.cells, next.renormalise);
    next.cells.insert(next.cells.begin(), kept.begin(), kept.end());
  }
  static bool contains(const Set& all, const Set& edit) {
    return replaces(edit, all) && std::ranges::all_of(edit.cells, [&](const model::CellValue& cell) {
             return std::ranges::find(all.cells, cell) != all.cells.end();
           });
  }
  static bool remove(Set& from, const Set& edit) {
    if (replaces(edit, from)) take_out(from.cells, edit.cells, false);
    return from.cells.empty();
  }

  static bool is_beyond(const Set& set, int length) {
    return std::ranges::all_of(
        set.cells, [&](const model::CellValue& cell) { return std::max(cell.query, cell.key) >= length; });
  }
  static bool move(Set& set, PositionMap& map) {
    std::erase_if(set.cells, [&](model::CellValue& cell) {
      const bool all = cell.query == kAll;
      cell.query = all ? kAll : map.to(cell.query), cell.key = map.to(cell.key);
      return (cell.query < 0 && !all) || cell.key < 0;
    });
    return !set.cells.empty();
  }

  static std::optional<Strength> strength(const Set& set) {
    if (set.cells.size() != 1) return std::nullopt;
    const auto value = static_cast<double>(set.cells.front().value);
    if (!std::isfinite(value)) return std::nullopt;
    if (set.point.site == model::Site::pattern)
      return Strength{"weight", value, std::min(0.0, value), std::max(1.0, value), 0.01, 0};
    const double most = std::max(20.0, std::ceil(std::abs(value)));
    return Strength{"score", value, -most, most, 0.1, 0};
  }
  static void set_strength(Set& set, float value) { set.cells.front().value = value; }

  static bool fills(const Set& set, model::HeadIndex head, int query, int key) {
    return is_at_head(set.point, set.head, head) &&
           std::ranges::any_of(set.cells, [&](const model::CellValue& cell) {
             return cell.query == query && cell.key == key;
           });
  }

 private:
  /// "key 3", "keys 3, 5–255", "40 keys" if a list of them is long.
  static std::string positions_words(const std::set<int>& positions, const std::string& one,
                                     const std::string& several) {
    constexpr std::size_t kLong = 32;  // bytes
    const std::string list = ranges_words({positions.begin(), positions.end()});
    if (positions.size() == 1) return one + list;
    return list.size() > kLong
               ? std::to_string(positions.size()) + " " + several.substr(0, several.size() - 1)
               : several + list;
  }

  /// Removes the cells that are in `others`; `rows`: also those that share a query with one.
  static void take_out(Cells& cells, const Cells& others, bool rows) {
    std::erase_if(cells, [&](const model::CellValue& cell) {
      return std::ranges::any_of(others, [&](const model::CellValue& other) {
        return other.query == cell.query && (rows || other.key == cell.key);
      });
    });
  }
};

}  // namespace headscope::app
