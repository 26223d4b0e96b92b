#pragma once
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/views/parts/names.h"
#include "app/views/table.h"

// Builds rows of tables for files, cell by cell.
namespace headscope::app {

// The text of a cell in a file: all digits of a number; empty without a value.
inline std::string in_file(std::string_view text) {
  return std::string(text);
}
inline std::string in_file(std::floating_point auto number) {
  return plain(number);
}
inline std::string in_file(std::integral auto number) {
  return std::to_string(number);
}
template <class Value>
std::string in_file(const std::optional<Value>& value) {
  return value ? in_file(*value) : std::string();
}

/// The rank of a guess, from 1, given from 0; "nan" if guesses have no order.
inline std::string rank_in_file(int rank) {
  return rank < 0 ? "nan" : std::to_string(rank + 1);
}

/// Appends cells: one for a text or a number, and for a range one for each of its elements.
template <class... Values>
void add_cells(std::vector<std::string>& row, const Values&... values) {
  const auto add = [&row](const auto& value) {
    if constexpr (requires { in_file(value); }) {
      row.push_back(in_file(value));
    } else {
      for (const auto& element : value) row.push_back(in_file(element));
    }
  };
  (add(values), ...);
}

/// Appends a row of such cells, padded with empty ones to the header's length.
template <class... Values>
void add_row(Table& table, const Values&... values) {
  std::vector<std::string>& row = table.rows.emplace_back();
  add_cells(row, values...);
  if (row.size() < table.header.size()) row.resize(table.header.size());
}

/// "[0]", "[1]", ...: headings of a vector's components.
inline std::vector<std::string> component_headings(int count) {
  std::vector<std::string> headings;
  for (int i = 0; i < count; ++i) headings.push_back("[" + std::to_string(i) + "]");
  return headings;
}

}  // namespace headscope::app
