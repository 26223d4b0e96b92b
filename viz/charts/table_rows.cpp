#include "viz/charts/table_rows.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace headscope::viz {

/// How strong a row is.
static float strength(const Table& table, int row) {
  return std::isnan(table.strengths[row]) ? -1 : std::abs(table.strengths[row]);
}

std::vector<int> table_rows(const Table& table) {
  std::vector<int> rows(static_cast<std::size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), 0);
  if (table.order.empty()) return rows;
  const auto by = [&](int row) { return table.order[row]; };
  const auto none = std::ranges::stable_partition(rows, [&](int row) { return !std::isnan(by(row)); });
  std::ranges::stable_sort(rows.begin(), none.begin(), {}, by);
  return rows;
}

std::vector<int> selected_rows(const Table& table, std::span<const int> rows, int count) {
  std::vector<int> strongest(rows.begin(), rows.end());
  if (table.order.empty() && !table.strengths.empty()) {
    std::ranges::stable_sort(strongest, std::greater{}, [&](int row) { return strength(table, row); });
  }
  // The marked one comes first, however strong it is.
  if (const auto at = std::ranges::find(strongest, table.marked);
      at - strongest.begin() >= count && count > 0)
    if (at != strongest.end()) strongest[count - 1] = *at;
  strongest.resize(count);
  std::vector<int> selected;
  std::ranges::copy_if(rows, std::back_inserter(selected),
                       [&](int row) { return std::ranges::find(strongest, row) != strongest.end(); });
  return selected;
}

bool lacks_strip(const FixedRow& row, const TableLayout& layout) {
  return std::ranges::any_of(row, [&](const FixedCell& cell) {
    return !cell.vector.empty() && layout.place_of(cell.column) == nullptr;
  });
}

std::string note_of(const Table& table, std::span<const int> rows, std::span<const int> shown) {
  if (shown.empty() || shown.size() >= rows.size()) return {};
  const std::string of_all = " of " + std::to_string(rows.size());
  const auto is_run = [&](std::span<const int> part) {
    const auto at = std::ranges::find(rows, part.front());
    return std::ranges::equal(part, std::span(rows).subspan(at - rows.begin(), part.size()));
  };
  const auto is_shown = [&](int row) { return std::ranges::find(shown, row) != shown.end(); };
  const std::string chosen = ", plus the chosen one";
  if (table.selects && table.order.empty() && !table.strengths.empty()) {
    const bool weak = is_shown(table.marked) && std::ranges::any_of(rows, [&](int row) {
                        return !is_shown(row) && strength(table, row) > strength(table, table.marked);
                      });
    if (weak && shown.size() == 1) return "only the chosen one" + of_all + " " + table.row_names;
    return "the top " + std::to_string(shown.size() - (weak ? 1 : 0)) + of_all + " " + table.row_names +
           (weak ? chosen : "");
  }
  // Of sorted rows the marked one may stand apart, at the end.
  const bool apart = !is_run(shown);
  const auto run = apart ? shown.first(shown.size() - 1) : shown;
  const auto start = std::ranges::find(rows, run.front()) - rows.begin() + table.first_number;
  return table.row_names + " " + std::to_string(start) + " to " +
         std::to_string(start + std::ssize(run) - 1) + of_all + (apart ? chosen : "");
}

}  // namespace headscope::viz
