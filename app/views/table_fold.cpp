#include "app/views/table_fold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>

namespace headscope::app {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr const char *kMean = " mean", *kError = " standard error", *kCount = " count", *kPrompts = "prompts";

double number_at(const Table& table, std::size_t column, std::size_t row) {
  return std::get<std::vector<double>>(table.columns.at(column).cells).at(row);
}

Cell cell_at(const Column& column, std::size_t row) {
  const Cell cell = column.cell(row);
  const auto* number = std::get_if<double>(&cell);
  return text_of(cell).empty() || (number != nullptr && !std::isfinite(*number)) ? Cell() : cell;
}

/// The tally with these three numbers.
Tally tally_of(double mean, double error, double count) {
  if (!(count >= 0 && count < 1e15)) throw std::out_of_range(kCount);
  if (!std::isfinite(mean)) return {};
  return {static_cast<std::int64_t>(count), mean, count > 1 ? error * error * count * (count - 1) : 0};
}

std::string without_mean(const std::string& name) {
  return name.substr(0, name.size() - std::string_view(kMean).size());
}

}  // namespace

Tally Tally::of(double number) {
  return std::isfinite(number) ? Tally{1, number, 0} : Tally{};
}

void Tally::add(const Tally& other) {
  if (other.count == 0) return;
  const auto before = static_cast<double>(count), more = static_cast<double>(other.count);
  const double apart = other.mean - mean;
  squares += other.squares + apart * apart * before * more / (before + more);
  mean += apart * more / (before + more);
  count += other.count;
}

double Tally::value() const {
  return count > 0 ? mean : kNone;
}

double Tally::standard_error() const {
  const auto n = static_cast<double>(count);
  return count > 1 ? std::sqrt(squares / (n - 1) / n) : kNone;
}

void TableFold::add_row(Row row, const std::string& where) {
  if (!row_of_.try_emplace(row.keys, rows_.size()).second)
    throw std::runtime_error(where +
                             "rows of its table have the same names, and cannot be matched with those of "
                             "other prompts");
  rows_.push_back(std::move(row));
}

TableFold::TableFold(const Table& prompt, const std::string& where)
    : ranked_by_(prompt.ranked_by), prompts_(1) {
  std::vector<const Column*> keys, values;
  for (const Column& column : prompt.columns) {
    if (column.used_as() == Column::Use::note) continue;
    const bool is_key = column.used_as() == Column::Use::key;
    (is_key ? keys : values).push_back(&column);
    (is_key ? keys_ : values_).emplace_back(column.name, column.unit);
  }
  if (values.empty()) throw std::runtime_error(where + "its table has no numbers to take the mean of");
  for (std::size_t i = 0; i < prompt.rows(); ++i) {
    Row row;
    for (const Column* column : keys) row.keys.push_back(cell_at(*column, i));
    for (const Column* column : values) row.values.push_back(Tally::of(std::get<0>(column->cells)[i]));
    add_row(std::move(row), where);
  }
  for (const TableFact& fact : prompt.facts)
    if (const auto* number = std::get_if<double>(&fact.value); number != nullptr && !fact.about)
      numbers_.push_back({fact.name, fact.unit, Tally::of(*number)});
    else
      about_.push_back(fact);
}

TableFold TableFold::of_means(const Table& means, const std::string& where) try {
  TableFold fold;
  std::vector<std::size_t> keys, values;
  for (std::size_t i = 0; i < means.columns.size(); ++i) {
    const Column& column = means.columns[i];
    if (column.has_texts() || !column.name.ends_with(kMean)) {
      keys.push_back(i);
      fold.keys_.emplace_back(column.name, column.unit);
      continue;
    }
    values.push_back(i);
    fold.values_.emplace_back(without_mean(column.name), column.unit);
    i += 2;  // its standard error and count
  }
  for (std::size_t i = 0; i < means.rows(); ++i) {
    Row row;
    for (const std::size_t key : keys) row.keys.push_back(cell_at(means.columns[key], i));
    for (const std::size_t at : values)
      row.values.push_back(
          tally_of(number_at(means, at, i), number_at(means, at + 1, i), number_at(means, at + 2, i)));
    fold.add_row(std::move(row), where);
  }
  const auto number = [&](std::size_t fact) { return std::get<double>(means.facts.at(fact).value); };
  if (means.facts.at(0).name != kPrompts) throw std::out_of_range(kPrompts);
  fold.prompts_ = tally_of(0, 0, number(0)).count;
  for (std::size_t i = 1; i < means.facts.size(); ++i) {
    const TableFact& fact = means.facts[i];
    if (std::holds_alternative<std::string>(fact.value) || !fact.name.ends_with(kMean)) {
      fold.about_.push_back(fact);
      continue;
    }
    fold.numbers_.push_back(
        {without_mean(fact.name), fact.unit, tally_of(number(i), number(i + 1), number(i + 2))});
    i += 2;
  }
  if (!means.ranked_by.empty()) fold.ranked_by_ = without_mean(means.columns[means.at(means.ranked_by)].name);
  if (fold.prompts_ < 1 || fold.values_.empty()) throw std::out_of_range(kPrompts);
  return fold;
} catch (const std::exception&) {
  throw std::runtime_error(where + "expected the JSON that --mean writes, found something else");
}

void TableFold::add(const TableFold& others, const std::string& where) {
  if (others.prompts_ == 0) return;
  if (prompts_ == 0) {
    *this = others;
    return;
  }
  const auto same = [](const std::vector<Column>& a, const std::vector<Column>& b) {
    return std::ranges::equal(a, b, {}, &Column::name, &Column::name);
  };
  if (!same(keys_, others.keys_) || !same(values_, others.values_))
    throw std::runtime_error(where +
                             "its table has other columns than the first one, so that there is no mean");
  for (const Row& other : others.rows_) {
    const auto [at, is_new] = row_of_.try_emplace(other.keys, rows_.size());
    if (is_new) {
      rows_.push_back(other);
      continue;
    }
    Row& row = rows_[at->second];
    for (std::size_t i = 0; i < row.values.size(); ++i) row.values[i].add(other.values[i]);
  }
  for (const NumberFact& other : others.numbers_) {
    const auto known = std::ranges::find(numbers_, other.name, &NumberFact::name);
    if (known == numbers_.end())
      numbers_.push_back(other);
    else
      known->tally.add(other.tally);
  }
  std::erase_if(about_, [&](const TableFact& fact) {
    return std::ranges::none_of(others.about_, [&](const TableFact& other) {
      return fact.name == other.name && fact.value == other.value;
    });
  });
  prompts_ += others.prompts_;
}

std::size_t TableFold::bytes() const {
  return rows_.size() * (sizeof(Row) + 2 * keys_.size() * sizeof(Cell) + values_.size() * sizeof(Tally) + 64);
}

Table TableFold::means() const {
  Table table;
  table.columns = keys_;
  for (Column& column : table.columns) column.use = Column::Use::key;
  for (const Column& column : values_) {
    table.columns.emplace_back(column.name + kMean, column.unit);
    table.columns.emplace_back(column.name + kError, column.unit);
    table.columns.emplace_back(column.name + kCount);
  }
  for (const Row& row : rows_) {
    TableRow cells = row.keys;
    for (const Tally& tally : row.values)
      add_cells(cells, tally.value(), tally.standard_error(), tally.count);
    table.add(std::move(cells));
  }
  table.fact(kPrompts, prompts_);
  for (const NumberFact& fact : numbers_) {
    table.fact(fact.name + kMean, fact.tally.value(), fact.unit);
    table.fact(fact.name + kError, fact.tally.standard_error(), fact.unit);
    table.fact(fact.name + kCount, fact.tally.count);
  }
  table.facts.insert(table.facts.end(), about_.begin(), about_.end());
  if (!ranked_by_.empty()) table.ranked_by = ranked_by_ + kMean;
  return table;
}

}  // namespace headscope::app
