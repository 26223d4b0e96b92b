#include "app/run/sources/digest.h"

#include <algorithm>

namespace headscope::app {

using system::Hash;

Digest::Digest(std::string_view expected, std::uint64_t bytes)
    : Digest(expected.size() == 40 ? Hash::Kind::sha1 : Hash::Kind::sha256) {
  if (expected.size() == 40) add("blob " + std::to_string(bytes) + std::string(1, '\0'));
}

std::string Digest::hex() {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (const char byte : hash_.finish()) {
    const auto value = static_cast<unsigned char>(byte);
    text += {kHex[value >> 4], kHex[value & 15]};
  }
  return text;
}

bool is_digest(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace headscope::app
