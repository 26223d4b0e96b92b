#include "app/views/table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ranges>
#include <stdexcept>

#include "app/counted.h"
#include "app/text/output_text.h"
#include "app/views/parts/names.h"

namespace headscope::app {
namespace {

constexpr std::uint64_t kNoNumber = 0x7ff8'0000'0000'0e11;  // a quiet NaN

using Numbers = std::vector<double>;
using Texts = std::vector<std::string>;

/// Whether it is a whole number that JSON and CSV have without exponent: all up to 2^53 are exact.
bool is_whole(double number) {
  return number == std::trunc(number) && std::abs(number) <= 9007199254740992;
}

std::string short_text(double number) {
  if (!std::isfinite(number)) return number_text(number);
  std::array<char, 32> text{};
  return {text.data(),
          std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general, 9).ptr};
}

std::string heading(const Column& column) {
  return column.name + (column.unit.empty() ? "" : " in " + column.unit);
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string tsv_cell(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

template <class Write>
std::string joined(const Table& table, char between, const char* line_end, const Write& write) {
  std::string text;
  const auto add = [&](std::size_t column, const std::string& cell) {
    if (column > 0) text += between;
    text += write(cell);
    if (column + 1 == table.columns.size()) text += line_end;
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i) add(i, heading(table.columns[i]));
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (std::size_t i = 0; i < table.columns.size(); ++i) add(i, text_of(table.columns[i].cell(row)));
  return text;
}

// ---- text ----

/// How a column's numbers are written: all whole, or with so many decimals that the largest has six digits.
struct NumberForm {
  int decimals = 0;

  explicit NumberForm(const Numbers& numbers) {
    double largest = 0;
    bool whole = true;
    for (const double number : numbers) {
      if (!std::isfinite(number)) continue;
      largest = std::max(largest, std::abs(number));
      whole = whole && number == std::trunc(number);
    }
    constexpr int kDigits = 6, kMostDecimals = 12;
    if (!whole)
      decimals =
          std::clamp(kDigits - 1 - static_cast<int>(std::floor(std::log10(largest))), 0, kMostDecimals);
  }
  std::string operator()(double number) const {
    if (!std::isfinite(number)) return number_text(number);
    std::array<char, 352> text{};  // of the largest double
    const bool vanishes = number != 0 && std::abs(number) < 0.5 * std::pow(10, -decimals);
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number,
                                   vanishes ? std::chars_format::scientific : std::chars_format::fixed,
                                   vanishes ? 2 : decimals);
    return {text.data(), end.ptr};
  }
};

/// Of a number nine digits, as many as a float can need.
std::string fact_text(const TableFact& fact) {
  const auto* number = std::get_if<double>(&fact.value);
  std::string text =
      number != nullptr && !is_whole(*number) ? short_text(*number) : terminal_safe(text_of(fact.value));
  return text + (fact.unit.empty() ? "" : " " + fact.unit);
}

}  // namespace

double no_number() {
  return std::bit_cast<double>(kNoNumber);
}

bool is_no_number(double number) {
  return std::bit_cast<std::uint64_t>(number) == kNoNumber;
}

std::size_t Column::size() const {
  return std::visit([](const auto& of) { return of.size(); }, cells);
}

Cell Column::cell(std::size_t row) const {
  return std::visit([row](const auto& of) { return Cell(of.at(row)); }, cells);
}

std::size_t Table::at(std::string_view column) const {
  const auto found = std::ranges::find(columns, column, &Column::name);
  if (found == columns.end()) throw std::out_of_range("no column " + std::string(column));
  return static_cast<std::size_t>(found - columns.begin());
}

void Table::add(TableRow row) {
  row.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto& cells = columns[i].cells;
    auto* numbers = std::get_if<Numbers>(&cells);
    if (auto* text = std::get_if<std::string>(&row[i])) {
      if (numbers != nullptr) {  // all empty so far
        if (!std::ranges::all_of(*numbers, is_no_number))
          throw std::logic_error("a text among the numbers of " + columns[i].name);
        cells = Texts(numbers->size());
      }
      std::get<Texts>(cells).push_back(std::move(*text));
    } else if (const auto* number = std::get_if<double>(&row[i])) {
      if (numbers == nullptr) throw std::logic_error("a number among the texts of " + columns[i].name);
      numbers->push_back(*number);
    } else if (numbers != nullptr) {
      numbers->push_back(no_number());
    } else {
      std::get<Texts>(cells).emplace_back();
    }
  }
}

void Table::add_components(int count) {
  for (int i = 0; i < count; ++i) columns.emplace_back("[" + std::to_string(i) + "]");
}

double decimal(float number) {
  if (!std::isfinite(number)) return static_cast<double>(number);
  const std::string text = plain(number);
  double read = 0;
  std::from_chars(text.data(), text.data() + text.size(), read);
  return read;
}

double rank_cell(int rank) {
  return rank < 0 ? std::numeric_limits<double>::quiet_NaN() : rank + 1;
}

std::string number_text(double number) {
  if (is_no_number(number)) return "";
  return is_whole(number) ? std::to_string(static_cast<std::int64_t>(number)) : plain(number);
}

std::string text_of(const Cell& cell) {
  const auto* number = std::get_if<double>(&cell);
  const auto* text = std::get_if<std::string>(&cell);
  return number != nullptr ? number_text(*number) : text != nullptr ? *text : "";
}

std::string to_csv(const Table& table) {
  return joined(table, ',', "\r\n", csv_cell);
}
std::string to_tsv(const Table& table) {
  return joined(table, '\t', "\n", tsv_cell);
}

Table strongest(Table table, std::size_t most) {
  std::vector<std::size_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (!table.ranked_by.empty()) {
    const Numbers& by = std::get<Numbers>(table.columns[table.at(table.ranked_by)].cells);
    const auto size = [&](std::size_t row) { return std::isnan(by[row]) ? -1 : std::abs(by[row]); };
    std::ranges::stable_sort(rows, std::ranges::greater(), size);
  }
  if (most > 0 && rows.size() > most) rows.resize(most);
  for (Column& column : table.columns)
    std::visit(
        [&](auto& cells) {
          std::decay_t<decltype(cells)> taken;
          for (const std::size_t row : rows) taken.push_back(std::move(cells[row]));
          cells = std::move(taken);
        },
        column.cells);
  return table;
}

std::string to_text(const Table& table) {
  constexpr std::size_t kMostColumns = 32;  // a vector's components are for files
  std::string text;
  for (const TableFact& fact : table.facts) text += terminal_safe(fact.name) + ": " + fact_text(fact) + "\n";
  if (table.empty()) return text;
  if (table.rows() == 0) return text + "no rows\n";
  if (!table.facts.empty()) text += "\n";
  std::vector<Texts> columns;
  std::vector<std::size_t> widths;
  for (const Column& column : table.columns | std::views::take(kMostColumns)) {
    Texts& lines = columns.emplace_back(Texts{terminal_safe(heading(column))});
    if (const auto* texts = std::get_if<Texts>(&column.cells)) {
      for (const std::string& cell : *texts) lines.push_back(terminal_safe(cell));
    } else {
      const Numbers& numbers = std::get<Numbers>(column.cells);
      std::ranges::transform(numbers, std::back_inserter(lines), NumberForm(numbers));
    }
    widths.push_back(terminal_width(std::ranges::max(lines, {}, terminal_width)));
  }
  for (std::size_t line = 0; line <= table.rows(); ++line) {
    std::string written;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string padding(widths[i] - terminal_width(columns[i][line]), ' ');
      const bool right = !table.columns[i].has_texts();
      written += (i > 0 ? "  " : "") + (right ? padding + columns[i][line] : columns[i][line] + padding);
    }
    text += written.substr(0, written.find_last_not_of(' ') + 1) + "\n";
  }
  if (const std::size_t left = table.columns.size() - columns.size(); left > 0)
    text += "and " + counted(static_cast<std::int64_t>(left), "more column") + ", which CSV and JSON have\n";
  return text;
}

nlohmann::ordered_json table_json(const Table& table) {
  using Json = nlohmann::ordered_json;
  const auto json_of = [](const Cell& cell) -> Json {
    if (const auto* text = std::get_if<std::string>(&cell)) return utf8_or_replacement(*text);
    const auto* number = std::get_if<double>(&cell);
    if (number == nullptr || !std::isfinite(*number)) return nullptr;
    return is_whole(*number) ? Json(static_cast<std::int64_t>(*number)) : Json(*number);
  };
  Json facts = Json::object(), columns = Json::object(), units = Json::object();
  for (const TableFact& fact : table.facts) {
    facts[utf8_or_replacement(fact.name)] = json_of(fact.value);
    if (!fact.unit.empty()) units[utf8_or_replacement(fact.name)] = fact.unit;
  }
  for (const Column& column : table.columns) {
    Json& cells = columns[utf8_or_replacement(column.name)] = Json::array();
    for (std::size_t row = 0; row < column.size(); ++row) cells.push_back(json_of(column.cell(row)));
    if (!column.unit.empty()) units[utf8_or_replacement(column.name)] = column.unit;
  }
  Json json = {{"facts", std::move(facts)}, {"columns", std::move(columns)}, {"units", std::move(units)}};
  if (!table.ranked_by.empty()) json["ranked_by"] = table.ranked_by;
  return json;
}

Table table_from(const nlohmann::ordered_json& json) {
  const auto unit = [&](const std::string& name) { return json.at("units").value(name, ""); };
  const auto number = [](const auto& cell) {
    return cell.is_null() ? std::nan("") : cell.template get<double>();
  };
  Table table;
  table.ranked_by = json.value("ranked_by", "");
  for (const auto& [name, cells] : json.at("columns").items()) {
    Column& column = table.columns.emplace_back(name, unit(name));
    if (!cells.empty() && cells.front().is_string())
      column.cells = cells.get<Texts>();
    else
      for (const auto& cell : cells) std::get<Numbers>(column.cells).push_back(number(cell));
    if (column.size() != table.rows()) throw std::invalid_argument("columns of different lengths");
  }
  for (const auto& [name, value] : json.at("facts").items()) {
    if (value.is_string())
      table.fact(name, value.get<std::string>(), unit(name));
    else
      table.fact(name, number(value), unit(name));
  }
  return table;
}

}  // namespace headscope::app
