#include "app/views/table_fold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace headscope::app {
namespace {

constexpr std::string_view kMean = " mean", kError = " standard error", kCount = " count",
                           kPrompts = "prompts";

std::string text_of(const TableRow& keys) {
  std::string text;
  for (const Cell& cell : keys) {
    const auto* number = std::get_if<double>(&cell);
    const auto* words = std::get_if<std::string>(&cell);
    text += (number != nullptr ? number_text(*number) : words != nullptr ? *words : "") + '\x1f';
  }
  return text;
}

Cell cell_at(const Column& column, std::size_t row) {
  if (column.has_texts()) return std::get<1>(column.cells)[row];
  const double number = std::get<0>(column.cells)[row];
  return is_no_number(number) ? Cell() : Cell(number);
}

bool same_names(const std::vector<Column>& a, const std::vector<Column>& b) {
  return std::ranges::equal(a, b, {}, &Column::name, &Column::name);
}

/// What made these three numbers.
Tally tally_of(double mean, double error, double count) {
  Tally tally = Tally::of(mean);
  if (tally.count > 0) tally.count = static_cast<std::int64_t>(count);
  if (count > 1) tally.squares = error * error * count * (count - 1);
  return tally;
}

std::string without(std::string_view end, const std::string& name) {
  return name.substr(0, name.size() - end.size());
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
  return count > 0 ? mean : std::numeric_limits<double>::quiet_NaN();
}

double Tally::standard_error() const {
  const auto n = static_cast<double>(count);
  return count > 1 ? std::sqrt(squares / (n - 1) / n) : std::numeric_limits<double>::quiet_NaN();
}

TableFold::Row* TableFold::insert(TableRow keys) {
  if (!row_of_.try_emplace(text_of(keys), rows_.size()).second) return nullptr;
  return &rows_.emplace_back(Row{std::move(keys), {}});
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
    TableRow names;
    for (const Column* column : keys) names.push_back(cell_at(*column, i));
    Row* row = insert(std::move(names));
    if (row == nullptr)
      throw std::runtime_error(where +
                               "rows of its table have the same names, and cannot be matched with those of "
                               "other prompts");
    for (const Column* column : values) row->values.push_back(Tally::of(std::get<0>(column->cells)[i]));
  }
  for (const TableFact& fact : prompt.facts) {
    const auto* number = std::get_if<double>(&fact.value);
    facts_.push_back({fact.name, fact.unit, ""});
    if (number != nullptr)
      facts_.back().value = Tally::of(*number);
    else
      facts_.back().value = std::get<std::string>(fact.value);
  }
}

TableFold TableFold::of_means(const Table& means, const std::string& where) try {
  TableFold fold;
  std::vector<std::size_t> keys, values;
  for (std::size_t i = 0; i < means.columns.size(); ++i) {
    const Column& column = means.columns[i];
    const bool is_value = !column.has_texts() && column.name.ends_with(kMean);
    (is_value ? values : keys).push_back(i);
    (is_value ? fold.values_ : fold.keys_)
        .emplace_back(is_value ? without(kMean, column.name) : column.name, column.unit);
    if (is_value) i += 2;  // its standard error and count
  }
  const auto number = [&](std::size_t column, std::size_t row) {
    return std::get<0>(means.columns.at(column).cells).at(row);
  };
  for (std::size_t row = 0; row < means.rows(); ++row) {
    TableRow names;
    for (const std::size_t key : keys) names.push_back(cell_at(means.columns[key], row));
    Row& to = *fold.insert(std::move(names));
    for (const std::size_t at : values)
      to.values.push_back(tally_of(number(at, row), number(at + 1, row), number(at + 2, row)));
  }
  const auto fact_at = [&](std::size_t i) { return std::get<double>(means.facts.at(i).value); };
  fold.prompts_ = static_cast<std::int64_t>(fact_at(0));
  for (std::size_t i = 1; i < means.facts.size(); ++i) {
    const TableFact& fact = means.facts[i];
    if (const auto* words = std::get_if<std::string>(&fact.value)) {
      fold.facts_.push_back({fact.name, fact.unit, *words});
    } else {
      fold.facts_.push_back(
          {without(kMean, fact.name), fact.unit, tally_of(fact_at(i), fact_at(i + 1), fact_at(i + 2))});
      i += 2;
    }
  }
  if (fold.prompts_ < 1 || fold.values_.empty()) throw std::out_of_range("no prompts");
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
  if (!same_names(keys_, others.keys_) || !same_names(values_, others.values_))
    throw std::runtime_error(where +
                             "its table has other columns than the first one, so that there is no mean");
  for (const Row& other : others.rows_) {
    if (Row* row = insert(other.keys)) {
      row->values = other.values;
      continue;
    }
    Row& row = rows_[row_of_.at(text_of(other.keys))];
    for (std::size_t i = 0; i < row.values.size(); ++i) row.values[i].add(other.values[i]);
  }
  const auto same = [](const Fact& fact, const std::vector<Fact>& all) {
    return std::ranges::find_if(all, [&](const Fact& other) {
      const auto* words = std::get_if<std::string>(&fact.value);
      const auto* there = std::get_if<std::string>(&other.value);
      return fact.name == other.name && (words == nullptr) == (there == nullptr) &&
             (words == nullptr || *words == *there);
    });
  };
  std::erase_if(facts_, [&](const Fact& fact) {
    return std::holds_alternative<std::string>(fact.value) &&
           same(fact, others.facts_) == others.facts_.end();
  });
  for (const Fact& other : others.facts_) {
    const auto* tally = std::get_if<Tally>(&other.value);
    if (tally == nullptr) continue;
    const auto known = same(other, facts_);
    if (known == facts_.end())
      facts_.push_back(other);
    else
      std::get<Tally>(facts_[static_cast<std::size_t>(known - facts_.begin())].value).add(*tally);
  }
  prompts_ += others.prompts_;
}

std::size_t TableFold::bytes() const {
  return rows_.size() * (sizeof(Row) + keys_.size() * sizeof(Cell) + values_.size() * sizeof(Tally) + 128);
}

Table TableFold::means() const {
  Table table;
  const auto named = [](const std::string& name, std::string_view end) { return name + std::string(end); };
  table.columns = keys_;
  for (Column& column : table.columns) column.use = Column::Use::key;
  for (const Column& column : values_) {
    table.columns.emplace_back(named(column.name, kMean), column.unit);
    table.columns.emplace_back(named(column.name, kError), column.unit);
    table.columns.emplace_back(named(column.name, kCount));
  }
  for (const Row& row : rows_) {
    TableRow cells = row.keys;
    for (const Tally& tally : row.values)
      add_cells(cells, tally.value(), tally.standard_error(), tally.count);
    table.add(std::move(cells));
  }
  table.fact(std::string(kPrompts), static_cast<double>(prompts_));
  for (const Fact& fact : facts_) {
    if (const auto* words = std::get_if<std::string>(&fact.value)) {
      table.fact(fact.name, *words, fact.unit);
      continue;
    }
    const Tally& tally = std::get<Tally>(fact.value);
    table.fact(named(fact.name, kMean), tally.value(), fact.unit);
    table.fact(named(fact.name, kError), tally.standard_error(), fact.unit);
    table.fact(named(fact.name, kCount), static_cast<double>(tally.count));
  }
  if (!ranked_by_.empty()) table.ranked_by = named(ranked_by_, kMean);
  return table;
}

}  // namespace headscope::app
