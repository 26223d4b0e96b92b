#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace headscope::viz {

/// One character of a text that may hold broken UTF-8.
struct Decoded {
  char32_t code = 0;       ///< the code point, or the byte if it is not UTF-8
  std::size_t length = 1;  ///< bytes it takes
  bool valid = false;
};

/// The character at `at` (< text.size()). Strict: overlong forms, surrogates and what lies above U+10FFFF are
/// broken, one byte at a time.
Decoded decode_utf8(std::string_view text, std::size_t at);

void append_utf8(std::string& text, char32_t code);

/// Whether a character has neither ink nor width: joiners, direction marks, variation selectors and the like.
bool is_invisible(char32_t code);
/// C0, DEL or C1.
bool is_control(char32_t code);

/// "<E2>" for a byte that is no UTF-8.
std::string byte_label(unsigned char byte);
/// "<U+200D>".
std::string code_point_label(char32_t code);

/// `text` as valid UTF-8, as it is drawn: broken bytes as `<E2>`, control characters as their pictures, C1
/// controls as `<U+0085>`. Tabs stay.
std::string drawable(std::string_view text);

}  // namespace headscope::viz
