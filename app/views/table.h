#pragma once
#include <string>
#include <vector>

namespace headscope::app {

/// Numbers of a view, for CSV and the clipboard.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

std::string to_csv(const Table& table);  ///< RFC 4180
std::string to_tsv(const Table& table);  ///< tabs and newlines inside cells as spaces

}  // namespace headscope::app
