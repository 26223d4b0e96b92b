#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace headscope::viz {

/// Bytes as text of letters, digits, "+" and "/", padded with "=": RFC 4648, section 4.
std::string base64(std::span<const std::byte> bytes);

}  // namespace headscope::viz
