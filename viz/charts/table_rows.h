#pragma once
#include <span>
#include <string>
#include <vector>

#include "viz/charts/table.h"

// Which rows of a table are shown, and the line that says so.
namespace headscope::viz {

/// "keys 3 to 12 of 40": `count` of `rows` rows, from `first` on; empty if these are all.
std::string note_of(const Table& table, int rows, int first, int count);

/// `count` of these rows, which are in the table's order: the marked and the kept one, and the strongest
/// of the others.
std::vector<int> selected_rows(const Table& table, std::span<const int> rows, int count);

/// Which rows were selected: "24 of 48 keys, the strongest", "heads 1 to 23 of 48, and the chosen one".
std::string note_of_selection(const Table& table, std::span<const int> rows, std::span<const int> selected);

}  // namespace headscope::viz
