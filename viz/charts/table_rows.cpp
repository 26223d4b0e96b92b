#include "viz/charts/table_rows.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>

namespace headscope::viz {
namespace {

/// These rows, the strongest first if the table says how strong they are.
std::vector<int> by_strength(const Table& table, std::span<const int> rows) {
  std::vector<int> strongest(rows.begin(), rows.end());
  if (table.strength >= 0) {
    const std::vector<float>& numbers = table.columns[table.strength].numbers;
    const auto magnitude = [&](int row) { return std::isnan(numbers[row]) ? -1 : std::abs(numbers[row]); };
    std::ranges::stable_sort(strongest, std::greater{}, magnitude);
  }
  return strongest;
}

bool strongest_has(const Table& table, std::span<const int> rows, std::size_t count, int row) {
  const std::vector<int> strongest = by_strength(table, rows);
  const auto first = std::span(strongest).first(count);
  return std::ranges::find(first, row) != first.end();
}

}  // namespace

std::vector<int> table_rows(const Table& table) {
  std::vector<int> rows(static_cast<std::size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), 0);
  if (table.order.column < 0) return rows;
  const TableColumn& column = table.columns[table.order.column];
  assert(column.kind == TableColumn::Kind::number || column.kind == TableColumn::Kind::bar);
  const auto value = [&](int row) { return column.numbers[row]; };
  const auto none = std::ranges::stable_partition(rows, [&](int row) { return !std::isnan(value(row)); });
  const std::span<int> numbered(rows.begin(), none.begin());
  table.order.falling ? std::ranges::stable_sort(numbered, std::greater{}, value)
                      : std::ranges::stable_sort(numbered, std::less{}, value);
  return rows;
}

std::string note_of(const Table& table, int rows, int first, int count) {
  if (count >= rows) return {};
  const int start = first + table.first_number;
  return table.row_names + " " + std::to_string(start) + " to " + std::to_string(start + count - 1) + " of " +
         std::to_string(rows);
}

std::vector<int> selected_rows(const Table& table, std::span<const int> rows, int count) {
  std::vector<int> strongest = by_strength(table, rows);
  // The wanted ones come first, whatever their strength.
  for (const int row : {table.in_order_of_strength ? -1 : table.kept, table.marked})
    if (const auto at = std::ranges::find(strongest, row); at != strongest.end())
      std::rotate(strongest.begin(), at, at + 1);
  strongest.resize(count);
  std::vector<int> selected;
  std::ranges::copy_if(rows, std::back_inserter(selected),
                       [&](int row) { return std::ranges::find(strongest, row) != strongest.end(); });
  return selected;
}

std::string note_of_selection(const Table& table, std::span<const int> rows, std::span<const int> selected) {
  const std::size_t count = selected.size();
  const bool first_ones = std::ranges::equal(selected, rows.first(count));
  if (table.strength >= 0 && !table.in_order_of_strength) {
    const auto besides = [&](int row) {
      return std::ranges::find(selected, row) != selected.end() && !strongest_has(table, rows, count, row);
    };
    const bool chosen = besides(table.marked), another = table.kept != table.marked && besides(table.kept);
    return std::to_string(count) + " of " + std::to_string(rows.size()) + " " + table.row_names + ", the " +
           table.strongest + (chosen ? " and the chosen one" : "") + (another ? " and another" : "");
  }
  const auto in_order = static_cast<int>(first_ones ? count : count - 1);
  const int all = static_cast<int>(rows.size());
  if (in_order == 0) return table.row_names + ": 1 of " + std::to_string(all);
  return note_of(table, all, 0, in_order) + (first_ones ? "" : ", and the chosen one");
}

}  // namespace headscope::viz
