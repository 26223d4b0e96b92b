#pragma once
#include <span>
#include <string>
#include <vector>

#include "viz/charts/table.h"

// Which rows of a table are shown, and the line that says so.
namespace headscope::viz {

/// Of a row above the others: without room for its strip it says nothing of its own.
bool lacks_strip(const FixedRow& row, const TableLayout& layout);

/// `count` of these rows, which are in the table's order; see Table::selects.
std::vector<int> selected_rows(const Table& table, std::span<const int> rows, int count);

/// "keys 3 to 12 of 40", "the top 24 of 48 keys, plus the chosen one", "heads 1 to 23 of 48, plus the chosen
/// one"; empty if all of these rows are shown.
std::string note_of(const Table& table, std::span<const int> rows, std::span<const int> shown);

}  // namespace headscope::viz
