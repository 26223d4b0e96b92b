#include "app/text/json_text.h"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "viz/text/utf8.h"

namespace headscope::app {
namespace {

/// Escapes DEL and C1 characters; JSON escapes C0 characters itself.
std::string without_controls(std::string json) {
  constexpr char kHex[] = "0123456789abcdef";
  const auto is_c1 = [&](std::size_t at) {
    // JSON is valid UTF-8, so the character is complete.
    return json[at] == '\xC2' && static_cast<unsigned char>(json[at + 1]) < 0xA0;
  };
  for (std::size_t at = 0; at < json.size(); ++at) {
    const bool is_delete = json[at] == '\x7F';
    if (!is_delete && !is_c1(at)) continue;
    const auto code = static_cast<unsigned char>(json[is_delete ? at : at + 1]);
    json.replace(at, is_delete ? 1 : 2, {'\\', 'u', '0', '0', kHex[code >> 4], kHex[code & 15]});
    at += 5;
  }
  return json;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const viz::Decoded character = viz::decode_utf8(bytes, at);
    if (!character.valid) return false;
    at += character.length;
  }
  return true;
}

std::string utf8_or_replacement(std::string_view bytes) {
  using nlohmann::json;
  return json::parse(json(bytes).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

nlohmann::json bytes_to_json(std::string_view bytes) {
  if (is_utf8(bytes)) return bytes;
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
  return without_controls(value.dump());
}

nlohmann::ordered_json token_json(int id, std::string_view bytes) {
  const std::vector<unsigned char> numbers(bytes.begin(), bytes.end());
  return {{"id", id}, {"text", utf8_or_replacement(bytes)}, {"bytes", numbers}};
}

}  // namespace headscope::app
