#pragma once
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// A view's numbers: typed columns and a few facts. Text, CSV, JSON and the clipboard are written from them
// here, for all views; means over prompts are made of them in table_fold.h.
namespace headscope::app {

/// A cell without a value, in a column of numbers: a NaN that can be told from one that was computed.
double no_number();
bool is_no_number(double number);

/// A cell, which becomes part of its column: nothing, a number or a text.
using Cell = std::variant<std::monostate, double, std::string>;
using TableRow = std::vector<Cell>;

struct Column {
  /// What the cells are for means over prompts.
  enum class Use {
    key,    ///< they say what a row is about: a layer, a name
    value,  ///< they are measured
    note,   ///< neither: a token's text, which differs between prompts
  };
  std::string name;       ///< no other column of the table has it
  std::string unit = {};  ///< "bits"; empty: none
  std::optional<Use> use = {};
  std::variant<std::vector<double>, std::vector<std::string>> cells = {};

  Column(std::string its_name, std::string its_unit = {}, std::optional<Use> its_use = {})  // NOLINT
      : name(std::move(its_name)), unit(std::move(its_unit)), use(its_use) {}
  Column(const char* its_name) : name(its_name) {}  // NOLINT(google-explicit-constructor)
  bool has_texts() const { return std::holds_alternative<std::vector<std::string>>(cells); }
  std::size_t size() const;
  Cell cell(std::size_t row) const;
  /// As given, or else: texts are keys, numbers values.
  Use used_as() const { return use.value_or(has_texts() ? Use::key : Use::value); }
};
/// A column of places ("layer"), and one of what only describes them ("token").
inline Column key_column(std::string name) {
  return {std::move(name), {}, Column::Use::key};
}
inline Column note_column(std::string name, std::string unit = {}) {
  return {std::move(name), std::move(unit), Column::Use::note};
}

/// A float as the number with the fewest decimal digits that reads back as it: no digits that it lacks.
double decimal(float number);

inline Cell cell_of(std::nullopt_t) {
  return {};
}
inline Cell cell_of(std::string_view text) {
  return std::string(text);
}
inline Cell cell_of(float number) {
  return decimal(number);
}
inline Cell cell_of(double number) {
  return number;
}
inline Cell cell_of(std::integral auto number) {
  return static_cast<double>(number);
}
/// A layer, head or position; -1: it has none.
inline Cell index_cell(int index) {
  return index < 0 ? Cell() : cell_of(index);
}
template <class Value>
Cell cell_of(const std::optional<Value>& value) {
  return value ? cell_of(*value) : Cell();
}
/// A number or a text about the whole table: "value", "faithfulness", "token".
struct TableFact {
  std::string name;
  Cell value;  ///< not empty
  std::string unit = {};
  bool about = false;  ///< it says what the numbers are about, as a position does; it has no mean
};

struct Table {
  std::vector<Column> columns;
  std::vector<TableFact> facts;
  /// The column of numbers by whose magnitude rows are ranked; empty: they have an order.
  std::string ranked_by;

  Table() = default;
  Table(std::initializer_list<Column> its_columns) : columns(its_columns) {}
  std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
  bool empty() const { return columns.empty(); }  ///< there is nothing to show yet
  /// The column's index. Throws std::out_of_range.
  std::size_t at(std::string_view column) const;
  void add_columns(std::initializer_list<Column> more) { columns.insert(columns.end(), more); }
  /// Appends a row, whose end may be left out. A column's first filled cell decides: numbers or texts.
  void add(TableRow row);
  /// Appends a fact: a text or a number; of an optional one without a value, none.
  template <class Value>
  void fact(std::string name, const Value& value, std::string unit = {}, bool about = false) {
    if (Cell cell = cell_of(value); cell != Cell())
      facts.push_back({std::move(name), std::move(cell), std::move(unit), about});
  }
  /// The same of what the numbers are about: a position, an id.
  template <class Value>
  void about(std::string name, const Value& value, std::string unit = {}) {
    fact(std::move(name), value, std::move(unit), true);
  }
  /// Appends columns "[0]", "[1]", ... for the components of vectors.
  void add_components(int count);
};

/// The rank of a guess, from 1, given from 0; NaN if guesses have no order.
double rank_cell(int rank);

/// Appends cells: one for a text, a number or an optional one, and for a range one for each of its elements.
template <class... Values>
void add_cells(TableRow& row, const Values&... values) {
  const auto add = [&row](const auto& value) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(value)>, Cell>) {
      row.push_back(value);
    } else if constexpr (requires { cell_of(value); }) {
      row.push_back(cell_of(value));
    } else {
      for (const auto& element : value) row.push_back(cell_of(element));
    }
  };
  (add(values), ...);
}

/// Appends a row of such cells.
template <class... Values>
void add_row(Table& table, const Values&... values) {
  TableRow row;
  add_cells(row, values...);
  table.add(std::move(row));
}

/// All digits of a number, as files have them: "nan", "-inf"; nothing for no_number().
std::string number_text(double number);
/// The same of a cell, or its text.
std::string text_of(const Cell& cell);

std::string to_csv(const Table& table);  ///< RFC 4180, units in the heading: "loss in bits"
/// UTF-8's, at the beginning of a CSV file for programs that else take it for another encoding.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
std::string to_tsv(const Table& table);  ///< tabs and newlines inside cells as spaces
/// The table with its strongest rows first, see `ranked_by`, and at most so many of them; 0: all.
Table strongest(Table table, std::size_t most);
/// For a terminal: facts, then the rows with columns and decimals aligned.
std::string to_text(const Table& table);
/// {"facts": {name: value}, "columns": {name: [...]}, "units": {name: unit}}; what is not finite is null.
nlohmann::ordered_json table_json(const Table& table);
/// What table_json wrote. Throws std::exception for anything else.
Table table_from(const nlohmann::ordered_json& json);

}  // namespace headscope::app
