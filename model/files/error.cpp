#include "model/files/error.h"

#include <algorithm>

namespace headscope::model {

std::string quote(std::string_view name) {
  constexpr std::size_t kMax = 64;
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : name.substr(0, kMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    } else {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  out += '"';
  if (name.size() > kMax) out += "...";
  return out;
}

std::string quoted_list(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i)
    out += (i > 0 ? ", " : "") + quote(names[i]);
  return out + (names.size() > kMost ? ", ..." : "");
}

}  // namespace headscope::model
