#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Whole numbers as text.
namespace headscope::app {

/// "50,247"
inline std::string grouped(std::int64_t n) {
  std::string text = std::to_string(n);
  for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > (n < 0 ? 1 : 0); i -= 3) {
    text.insert(static_cast<std::size_t>(i), ",");
  }
  return text;
}

/// "1 layer", "12 layers"
inline std::string counted(std::int64_t n, std::string_view one) {
  return grouped(n) + " " + std::string(one) + (n == 1 ? "" : "s");
}

}  // namespace headscope::app
