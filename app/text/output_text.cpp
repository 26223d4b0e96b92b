#include "app/text/output_text.h"

#include <utf8proc.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "app/ascii.h"
#include "viz/text/utf8.h"

namespace headscope::app {
namespace {

/// Marks, embeddings, overrides and isolates, which can make a line look different from what it is.
bool changes_direction(char32_t c) {
  return c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

std::string terminal_safe(std::string_view text, std::string_view but) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const viz::Decoded c = viz::decode_utf8(text, at);
    const std::string_view bytes = text.substr(at, c.length);
    at += c.length;
    const bool obeyed = !c.valid || viz::is_control(c.code) || changes_direction(c.code);
    if (!obeyed || (bytes.size() == 1 && but.find(bytes.front()) != but.npos))
      out += bytes;
    else
      for (const unsigned char byte : bytes) out += "\\x" + hex(byte);
  }
  return out;
}

std::size_t terminal_width(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const viz::Decoded c = viz::decode_utf8(text, at);
    width += c.valid ? utf8proc_charwidth(static_cast<utf8proc_int32_t>(c.code)) : 1;
    at += c.length;
  }
  return static_cast<std::size_t>(width);
}

std::string utf8_or_replacement(std::string_view bytes) {
  using nlohmann::json;
  return json::parse(json(bytes).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

nlohmann::json bytes_to_json(std::string_view bytes) {
  if (viz::is_utf8(bytes)) return bytes;
  return std::vector<unsigned char>(bytes.begin(), bytes.end());
}

std::optional<std::string> bytes_from_json(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return std::nullopt;
  std::string bytes;
  for (const nlohmann::json& byte : value) {
    if (!byte.is_number_unsigned() || byte.get<std::uint64_t>() > 255) return std::nullopt;
    bytes += static_cast<char>(byte.get<std::uint64_t>());
  }
  return bytes;
}

std::string json_line(const nlohmann::ordered_json& value) {
  const std::string json = value.dump();
  std::string line;
  for (std::size_t at = 0; at < json.size();) {
    const viz::Decoded character = viz::decode_utf8(json, at);
    if (viz::is_control(character.code))  // DEL or C1: others are escaped already
      line += "\\u00" + hex(static_cast<unsigned char>(character.code));
    else
      line.append(json, at, character.length);
    at += character.length;
  }
  return line;
}

}  // namespace headscope::app
