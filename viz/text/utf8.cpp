#include "viz/text/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdio>

namespace headscope::viz {

Decoded decode_utf8(std::string_view text, std::size_t at) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t length =
      utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  if (length < 1) return {bytes[0], 1, false};
  return {static_cast<char32_t>(code), static_cast<std::size_t>(length), true};
}

bool is_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const Decoded character = decode_utf8(bytes, at);
    if (!character.valid) return false;
    at += character.length;
  }
  return true;
}

std::size_t incomplete_tail(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(text.size(), 3); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

void append_utf8(std::string& text, char32_t code) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
}

bool is_invisible(char32_t c) {
  return c == 0xAD || c == 0x34F || c == 0x61C || (c >= 0x180B && c <= 0x180F) ||
         (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
         (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF || (c >= 0xE0000 && c <= 0xE0FFF);
}

bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

bool is_drawn_as_label(char32_t code) {
  const bool is_noncharacter = (code >= 0xFDD0 && code <= 0xFDEF) || (code & 0xFFFE) == 0xFFFE;
  return is_noncharacter || (code >= 0x80 && is_control(code));
}

std::string byte_label(unsigned char byte) {
  char text[8];
  std::snprintf(text, sizeof text, "<%02X>", byte);
  return text;
}

std::string code_point_label(char32_t code) {
  char text[16];
  std::snprintf(text, sizeof text, "<U+%04X>", static_cast<unsigned>(code));
  return text;
}

std::string drawable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Decoded c = decode_utf8(text, at);
    if (!c.valid) {
      result += byte_label(static_cast<unsigned char>(c.code));
    } else if (is_drawn_as_label(c.code)) {
      result += code_point_label(c.code);
    } else if (c.code == '\t' || !is_control(c.code)) {
      result.append(text, at, c.length);
    } else {
      append_utf8(result, c.code == 0x7F ? U'\u2421' : 0x2400 + c.code);
    }
    at += c.length;
  }
  return result;
}

}  // namespace headscope::viz
