#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// Numbers of a view, for CSV and the clipboard.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

std::string to_csv(const Table& table);  ///< RFC 4180
/// UTF-8's, at the beginning of a CSV file for programs that else take it for another encoding.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
std::string to_tsv(const Table& table);  ///< tabs and newlines inside cells as spaces

}  // namespace headscope::app
