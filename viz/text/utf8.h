#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace headscope::viz {

/// One character of a text that may contain invalid UTF-8.
struct Decoded {
  char32_t code = 0;       ///< the code point, or the byte if it is not UTF-8
  std::size_t length = 1;  ///< in bytes
  bool valid = false;
};

/// The character at `at` (< text.size()). Strict: overlong forms, surrogates and values above U+10FFFF are
/// invalid, and each of their bytes counts as one character.
Decoded decode_utf8(std::string_view text, std::size_t at);

/// Whether bytes are well-formed UTF-8 (no surrogates, no overlong forms; Unicode 15, table 3-7).
bool is_utf8(std::string_view bytes);
/// The number of bytes at the end of a text that may be the start of an incomplete character.
std::size_t incomplete_tail(std::string_view text);

void append_utf8(std::string& text, char32_t code);

/// Whether a character has neither ink nor width, e.g. joiners, direction marks and variation selectors.
bool is_invisible(char32_t code);
/// Whether a character is in C0 or C1, or DEL.
bool is_control(char32_t code);
/// Whether a code point is drawn as its label: C1, and the noncharacters (U+FDD0 to U+FDEF and the last two
/// of each plane), which XML and PDF writers reject.
bool is_drawn_as_label(char32_t code);

/// "<E2>" for a byte that is not UTF-8.
std::string byte_label(unsigned char byte);
/// The label of a code point: "<U+200D>".
std::string code_point_label(char32_t code);

/// `text` as valid UTF-8, as it is drawn: invalid bytes as `<E2>`, control characters as their pictures, C1
/// controls and noncharacters as `<U+0085>`. Tabs are kept.
std::string drawable(std::string_view text);

}  // namespace headscope::viz
