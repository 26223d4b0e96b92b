#include "viz/scene/crc32.h"

#include <zlib.h>

namespace headscope::viz {

std::uint32_t crc32(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace headscope::viz
