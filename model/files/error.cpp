#include "model/files/error.h"

#include <algorithm>
#include <numeric>
#include <utility>

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

std::size_t spelling_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, change}));
    }
  }
  return row[b.size()];
}

std::string quoted_list(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i)
    out += (i > 0 ? ", " : "") + quote(names[i]);
  return out + (names.size() > kMost ? ", ..." : "");
}

}  // namespace headscope::model
