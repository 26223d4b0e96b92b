#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headscope::viz {

/// Bytes as text of letters, digits, "+" and "/", padded with "=": RFC 4648, section 4.
std::string base64(std::span<const std::byte> bytes);
/// The bytes of such a text; nothing for any other.
std::optional<std::string> bytes_from_base64(std::string_view text);

}  // namespace headscope::viz
