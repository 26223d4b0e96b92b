#include "model/tokens/byte_alphabet.h"

#include <array>
#include <cstdint>

namespace headscope::model {
namespace {

constexpr int kCharacters = 0x144;  // upper bound of the alphabet's code points

struct Alphabet {
  std::array<std::uint16_t, 256> character_of_byte{};
  std::array<std::int16_t, kCharacters> byte_of_character{};
};

// The printable bytes of Latin-1 stand for themselves; the others are mapped to U+0100 and up, in order.
constexpr Alphabet kAlphabet = [] {
  Alphabet alphabet;
  alphabet.byte_of_character.fill(-1);
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    const int character = printable ? byte : next++;
    alphabet.character_of_byte[byte] = static_cast<std::uint16_t>(character);
    alphabet.byte_of_character[character] = static_cast<std::int16_t>(byte);
  }
  return alphabet;
}();

}  // namespace

std::optional<std::string> bytes_of_name(std::string_view name) {
  std::string bytes;
  bytes.reserve(name.size());
  for (std::size_t i = 0; i < name.size(); ++i) {
    int character = static_cast<unsigned char>(name[i]);
    if (character >= 0x80) {  // the alphabet's characters take at most two bytes in UTF-8
      if (character < 0xc2 || character > 0xdf || i + 1 == name.size()) return std::nullopt;
      character = (character & 0x1f) << 6 | (static_cast<unsigned char>(name[++i]) & 0x3f);
    }
    if (character >= kCharacters || kAlphabet.byte_of_character[character] < 0) return std::nullopt;
    bytes += static_cast<char>(kAlphabet.byte_of_character[character]);
  }
  return bytes;
}

std::string name_of_byte(unsigned char byte) {
  const int character = kAlphabet.character_of_byte[byte];
  if (character < 0x80) return std::string(1, static_cast<char>(character));
  return {static_cast<char>(0xc0 | character >> 6), static_cast<char>(0x80 | (character & 0x3f))};
}

}  // namespace headscope::model
