#pragma once
#include <string>

#include "viz/text/utf8.h"

namespace headscope::testing {

/// Characters that file formats forbid or stumble over: all controls and noncharacters, and bytes that are
/// not UTF-8.
inline std::string odd_characters() {
  std::string text = "a";
  const auto add = [&](char32_t first, char32_t last) {
    for (char32_t code = first; code <= last; ++code) viz::append_utf8(text, code);
  };
  add(0, 0x1F);
  add(0x7F, 0x9F);
  add(0xFDD0, 0xFDEF);
  for (char32_t plane = 0; plane <= 0x10; ++plane) add(plane << 16 | 0xFFFE, plane << 16 | 0xFFFF);
  return text + "\xC3 \xED\xA0\x80 \xFF z";
}

}  // namespace headscope::testing
