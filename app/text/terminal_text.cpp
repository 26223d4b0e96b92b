#include "app/text/terminal_text.h"

#include <utf8proc.h>

#include <algorithm>

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
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const viz::Decoded c = viz::decode_utf8(text, at);
    const std::string_view bytes = text.substr(at, c.length);
    at += c.length;
    const bool obeyed = !c.valid || viz::is_control(c.code) || changes_direction(c.code);
    if (!obeyed || (bytes.size() == 1 && but.find(bytes.front()) != but.npos)) {
      out += bytes;
      continue;
    }
    for (const char b : bytes) {
      const auto byte = static_cast<unsigned char>(b);
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
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

std::size_t incomplete_tail(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(text.size(), 3); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace headscope::app
