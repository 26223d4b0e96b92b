#include "app/text/json_text.h"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace headscope::app {
namespace {

/// The length of the first character, or minus the length of its maximal valid part if it is incomplete or
/// invalid.
int front_character(std::string_view bytes) {
  const auto byte = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return -1;
  const int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The range of the second byte excludes overlong forms, surrogates and code points above U+10FFFF.
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return -1;
  for (int i = 2; i < length; ++i) {
    if ((byte(static_cast<std::size_t>(i)) & 0xC0) != 0x80) return -i;
  }
  return length;
}

/// Escapes DEL and C1 characters; JSON escapes C0 characters itself.
std::string without_controls(std::string json) {
  constexpr char kHex[] = "0123456789abcdef";
  const auto is_c1 = [&](std::size_t at) {
    return json[at] == '\xC2' && static_cast<unsigned char>(json[at + 1]) <
                                     0xA0;  // JSON is valid UTF-8, so the character is complete
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
  for (int length = 0; !bytes.empty(); bytes.remove_prefix(length))
    if (length = front_character(bytes); length < 0) return false;
  return true;
}

std::string utf8_or_replacement(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const int length = front_character(bytes);
    const auto taken = static_cast<std::size_t>(length < 0 ? -length : length);
    out += length < 0 ? std::string_view("\xEF\xBF\xBD") : bytes.substr(0, taken);
    bytes.remove_prefix(taken);
  }
  return out;
}

nlohmann::json bytes_to_json(std::string_view bytes) {
  if (is_utf8(bytes)) return nlohmann::json(bytes);
  nlohmann::json array = nlohmann::json::array();
  for (const unsigned char byte : bytes) array.push_back(byte);
  return array;
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
  nlohmann::ordered_json numbers = nlohmann::ordered_json::array();
  for (const unsigned char byte : bytes) numbers.push_back(byte);
  return {{"id", id}, {"text", utf8_or_replacement(bytes)}, {"bytes", std::move(numbers)}};
}

}  // namespace headscope::app
