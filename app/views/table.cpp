#include "app/views/table.h"

#include <algorithm>

namespace headscope::app {
namespace {

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string tsv_cell(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

template <class Cell>
std::string joined(const Table& table, char between, const char* line_end, Cell cell) {
  std::string text;
  auto add = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += between;
      text += cell(row[i]);
    }
    text += line_end;
  };
  add(table.header);
  for (const auto& row : table.rows) add(row);
  return text;
}

}  // namespace

std::string to_csv(const Table& table) {
  return joined(table, ',', "\r\n", csv_cell);
}
std::string to_tsv(const Table& table) {
  return joined(table, '\t', "\n", tsv_cell);
}

}  // namespace headscope::app
