#pragma once
#include <cmath>

#include "app/run/edits/edit_kind.h"

namespace headscope::app {

/// Its text is a place with "[query,key]", then "=" or "~=".
template <>
struct EditKind<model::SetCells> : WholeEdit<model::SetCells> {
  using Set = model::SetCells;
  using Cells = std::vector<model::CellValue>;
  static constexpr std::string_view kGrammar =
      "  L3.pattern[8,3]=0            weight of query 8 on key 3; ~= also rescales the rest, to sum to 1\n"
      "  L3H0.scores[*,0]=null        mask key 0 for all queries\n";
  static constexpr std::array<std::string_view, 4> kKeys{"cells", "site", "head", "renormalise"};
  static constexpr bool kHasParts = true;
  static std::size_t numbers(const Set& set) { return 3 * set.cells.size(); }
  static std::size_t length(const Set& set) { return set.cells.size(); }

  static Set read(EditReader& in, const Place& at, const Numbers& queries, const std::vector<int>& keys,
                  bool renormalise) {
    const float value = in.take("null") ? kHiddenScore : in.number();
    const int n_ctx = in.config().n_ctx;
    for (const std::vector<int>* positions : {&queries.list, &keys})
      for (const int position : *positions)
        if (position >= n_ctx) in.fail("there is no position " + std::to_string(position));
    Set set{at.point, at.head, {}, renormalise};
    for (const int key : keys) {
      if (queries.all)
        for (int query = key; query < n_ctx; ++query) set.cells.push_back({query, key, value});
      for (const int query : queries.list) set.cells.push_back({query, key, value});
    }
    return set;
  }

  static Set from_json(const EditObject& in) {
    const Json renormalise = in.json.value("renormalise", Json(false));
    if (!renormalise.is_boolean()) throw WrongEdit("\"renormalise\" takes true or false");
    Set set{in.at.point, in.at.head, {}, renormalise.get<bool>()};
    for (const Json& cell : array_of(in.value("cells"), "cells")) {
      const Json::array_t& three = array_of(cell, "cells");
      if (three.size() != 3) throw WrongEdit("\"cells\" takes [query, key, value] each");
      set.cells.push_back({whole_of(three[0], "cells"), whole_of(three[1], "cells"),
                           number_of(three[2], "cells", in.at.point.site == model::Site::attn_scores)});
    }
    return set;
  }

  static std::string text(const Set& set) {
    std::string text;
    for (const model::CellValue& cell : set.cells)
      text += (text.empty() ? "" : "; ") + point_text(set.point, set.head) + "[" +
              std::to_string(cell.query) + "," + std::to_string(cell.key) + "]" +
              (set.renormalise ? "~=" : "=") + number_text(cell.value);
    return text;
  }
  static std::string words(const Set& set) {
    const std::string where =
        "L" + std::to_string(set.point.layer) + (set.head ? " H" + std::to_string(*set.head) : "");
    const model::CellValue& cell = set.cells.front();
    const std::string key = std::to_string(cell.key);
    const bool one_key = std::ranges::all_of(set.cells, [&](const model::CellValue& other) {
      return other.key == cell.key && other.value == kHiddenScore;
    });
    if (set.cells.size() > 1 && one_key) return where + " key " + key + " masked";
    if (set.cells.size() > 1) return where + " " + std::to_string(set.cells.size()) + " cells";
    const std::string query = "query " + std::to_string(cell.query);
    if (cell.value == kHiddenScore || (cell.value == 0 && set.point.site == model::Site::pattern))
      return where + " key " + key + " masked for " + query;
    return where + " " + query + ", key " + key + " = " + number_text(cell.value);
  }

  static bool replaces(const Set& next, const Set& before) {
    return next.point == before.point && next.head == before.head && next.renormalise == before.renormalise;
  }
  static bool append(Set& before, const Set& next) {
    if (!replaces(next, before)) return false;
    before.cells.insert(before.cells.end(), next.cells.begin(), next.cells.end());
    return true;
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
    return std::ranges::all_of(set.cells, [&](const model::CellValue& cell) { return cell.query >= length; });
  }
  static bool move(Set& set, PositionMap& map) {
    std::erase_if(set.cells, [&](model::CellValue& cell) {
      cell.query = map.to(cell.query), cell.key = map.to(cell.key);
      return cell.query < 0 || cell.key < 0;
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
