#pragma once
#include <cstdint>
#include <string_view>

namespace headscope::viz {

/// The CRC-32 used in PNG, annex D of its specification.
std::uint32_t crc32(std::string_view bytes);

}  // namespace headscope::viz
