#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Letters of ASCII; the bytes of other characters stay as they are.
namespace headscope::app {

inline char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
inline std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower(c);
  return result;
}
inline char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
/// The text with a capital if it begins with a small letter.
inline std::string capitalized(std::string_view text) {
  std::string result(text);
  if (!result.empty()) result[0] = upper(result[0]);
  return result;
}
/// Two hexadecimal digits.
inline std::string hex(unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {kDigits[byte >> 4], kDigits[byte & 15]};
}
/// The text without blanks at both ends.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r") {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}
/// The parts of a text between marks, at least one.
inline std::vector<std::string_view> split(std::string_view text, std::string_view mark) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(mark)) != text.npos; text.remove_prefix(end + mark.size()))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}
/// "a, b or c"; `last` is " or ".
inline std::string listed(const std::vector<std::string>& words, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text.append(i == 0 ? "" : i + 1 == words.size() ? last : ", ").append(words[i]);
  return text;
}
/// The lines of a text without their ends, "\n" or "\r\n". After the last end there is no line.
inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, "\n");
  if (lines.back().empty()) lines.pop_back();
  for (std::string_view& line : lines)
    if (line.ends_with('\r')) line.remove_suffix(1);
  return lines;
}

}  // namespace headscope::app
