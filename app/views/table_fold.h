#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/views/table.h"

// Means of a view's table over many prompts, in parts that can be added up.
namespace headscope::app {

/// Count, mean and sum of squared deviations of numbers; two of them are added up by Chan, Golub and LeVeque
/// 1979, of which Welford 1962 is the case of one number.
struct Tally {
  std::int64_t count = 0;
  double mean = 0;
  double squares = 0;

  static Tally of(double number);  ///< none of a number that is not finite
  void add(const Tally& other);
  double value() const;  ///< the mean; NaN: of no number
  /// The sample's standard deviation over the square root of the count; NaN: of fewer than two numbers.
  double standard_error() const;
};

/// The tables of prompts, folded: rows with the same keys are one, and numbers are tallied.
class TableFold {
 public:
  struct Row {
    TableRow keys;
    std::vector<Tally> values;
  };
  TableFold() = default;
  /// Of one prompt. Throws std::runtime_error that begins with `where` for rows that keys do not tell apart,
  /// and for a table without numbers.
  TableFold(const Table& prompt, const std::string& where);
  /// Of the prompts whose fold made such a table; throws the same for another one.
  static TableFold of_means(const Table& means, const std::string& where);

  /// Throws std::runtime_error that begins with `where` for tables with other columns.
  void add(const TableFold& others, const std::string& where);
  std::int64_t prompts() const { return prompts_; }
  const std::vector<Column>& keys() const { return keys_; }      ///< without cells
  const std::vector<Column>& values() const { return values_; }  ///< without cells
  const std::vector<Row>& rows() const { return rows_; }
  /// The facts that all prompts have in common.
  const std::vector<TableFact>& about() const { return about_; }
  const std::string& ranked_by() const { return ranked_by_; }
  std::size_t bytes() const;
  /// The keys, then of each column of numbers "X mean", "X standard error" and "X count", the prompts that
  /// have it; the same of facts, after "prompts". A fact in words is there if all prompts have the same.
  Table means() const;

 private:
  struct NumberFact {
    std::string name, unit;
    Tally tally;
  };
  std::vector<Column> keys_, values_;
  std::vector<Row> rows_;
  std::map<TableRow, std::size_t> row_of_;  // by its keys
  std::vector<NumberFact> numbers_;
  std::vector<TableFact> about_;
  std::string ranked_by_;
  std::int64_t prompts_ = 0;

  void add_row(Row row, const std::string& where);
};

}  // namespace headscope::app
