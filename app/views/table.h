#pragma once
#include <concepts>
#include <string>
#include <utility>
#include <vector>

namespace headscope::app {

// What a cell says in a file: all digits of its number.
std::string in_file(float number);
std::string in_file(double number);
inline std::string in_file(std::string text) {
  return text;
}
inline std::string in_file(std::integral auto number) {
  return std::to_string(number);
}

/// Numbers of a view, for CSV and the clipboard.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  /// A row of texts and numbers; more may be added to it.
  std::vector<std::string>& add(const auto&... cells) {
    return rows.emplace_back(std::vector<std::string>{in_file(cells)...});
  }
};

std::string to_csv(const Table& table);  ///< RFC 4180
std::string to_tsv(const Table& table);  ///< tabs and newlines inside cells as spaces

}  // namespace headscope::app
