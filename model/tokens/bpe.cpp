#include "model/tokens/bpe.h"

#include <algorithm>
#include <array>
#include <map>

namespace headscope::model {
namespace {

std::uint64_t pair_of(int left, int right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

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

void MergeTable::add(int left, int right, int merged) {
  merges_[pair_of(left, right)] = {next_rank_++, merged};
}

void MergeTable::apply(std::vector<int>& ids, std::vector<MergeStep>* steps) const {
  // A linked list of pieces, and the places of the possible merges by rank.
  struct Piece {
    int id;
    std::size_t previous, next;
    Ranked merge = {};  ///< of this piece and the next
  };
  const std::size_t end = ids.size();
  std::vector<Piece> pieces;
  std::map<int, std::vector<std::size_t>> places;
  const auto look_up = [&](std::size_t at) {
    Piece& piece = pieces[at];
    const auto found =
        piece.next == end ? merges_.end() : merges_.find(pair_of(piece.id, pieces[piece.next].id));
    piece.merge = found == merges_.end() ? Ranked{} : found->second;
    if (piece.merge.rank >= 0) places[piece.merge.rank].push_back(at);
  };
  pieces.reserve(end);
  for (std::size_t i = 0; i < end; ++i) pieces.push_back({ids[i], i == 0 ? end : i - 1, i + 1});
  for (std::size_t i = 0; i < end; ++i) look_up(i);

  while (!places.empty()) {
    // Every occurrence of one pair. New pairs wait until then, even if their rank is lower.
    auto lowest = places.extract(places.begin());
    std::ranges::sort(lowest.mapped());
    for (const std::size_t at : lowest.mapped()) {
      Piece& left = pieces[at];
      if (left.merge.rank != lowest.key()) continue;  // one of the two has been merged with another piece
      Piece& right = pieces[left.next];
      if (steps != nullptr) {
        std::size_t before = 0;
        for (std::size_t i = 0; i != at; i = pieces[i].next) ++before;
        steps->push_back({left.merge.rank, left.id, right.id, left.merge.merged, before});
      }
      left.id = left.merge.merged;
      left.next = right.next;
      right.merge = {};
      if (left.next != end) pieces[left.next].previous = at;
      look_up(at);
      if (left.previous != end) look_up(left.previous);
    }
  }
  ids.clear();
  for (std::size_t at = 0; at != end; at = pieces[at].next) ids.push_back(pieces[at].id);
}

}  // namespace headscope::model
