#include "model/tokens/bpe.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

namespace headscope::model {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

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

MergeTable::MergeTable(std::span<const Merge> merges) {
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(16, merges.size() * 2));
  slots_.resize(size);
  shift_ = 64 - std::countr_zero(size);
  for (std::uint32_t rank = 0; rank < merges.size(); ++rank) {
    const std::uint64_t pair = pair_of(merges[rank].left, merges[rank].right);
    slots_[slot_of(pair)] = {pair, rank, merges[rank].merged};
  }
}

// The slot of a pair, or the empty one where it would go.
std::size_t MergeTable::slot_of(std::uint64_t pair) const {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // Fibonacci hashing (Knuth, TAOCP 6.4)
  std::size_t slot = (pair * kGolden) >> shift_;
  while (slots_[slot].pair != pair && slots_[slot].rank != kNoRank) slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

void MergeTable::apply(std::vector<int>& ids, Workspace& workspace) const {
  auto& pieces = workspace.pieces_;
  auto& heap = workspace.heap_;
  auto& changed = workspace.changed_;
  const auto look_up = [&](std::uint32_t at) {
    auto& piece = pieces[at];
    const Slot slot =
        piece.next == kNone ? Slot{} : slots_[slot_of(pair_of(piece.id, pieces[piece.next].id))];
    piece.rank = slot.rank;
    piece.merged = slot.merged;
  };
  const auto candidate = [&](std::uint32_t at) { return std::uint64_t{pieces[at].rank} << 32 | at; };
  const auto rank_of = [](std::uint64_t entry) { return static_cast<std::uint32_t>(entry >> 32); };

  // A linked list of pieces, and a heap of the possible merges.
  const auto count = static_cast<std::uint32_t>(ids.size());
  pieces.clear();
  heap.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    pieces.push_back({ids[i], -1, kNoRank, i == 0 ? kNone : i - 1, i + 1 < count ? i + 1 : kNone});
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    look_up(i);
    if (pieces[i].rank != kNoRank) heap.push_back(candidate(i));
  }
  std::make_heap(heap.begin(), heap.end(), std::greater<>());

  while (!heap.empty()) {
    // Merges every occurrence of one pair. New pairs wait until then, even if their rank is lower.
    const std::uint32_t rank = rank_of(heap.front());
    changed.clear();
    while (!heap.empty() && rank_of(heap.front()) == rank) {
      const auto at = static_cast<std::uint32_t>(heap.front());
      std::pop_heap(heap.begin(), heap.end(), std::greater<>());
      heap.pop_back();
      auto& left = pieces[at];
      if (left.rank != rank) continue;  // one of the two has already been merged with another piece
      auto& right = pieces[left.next];
      left.id = left.merged;
      left.next = right.next;
      right.rank = kNoRank;
      if (left.next != kNone) pieces[left.next].previous = at;
      look_up(at);
      changed.push_back(at);
      if (left.previous != kNone) {
        look_up(left.previous);
        changed.push_back(left.previous);
      }
    }
    for (const std::uint32_t at : changed) {
      if (pieces[at].rank == kNoRank) continue;
      heap.push_back(candidate(at));
      std::push_heap(heap.begin(), heap.end(), std::greater<>());
    }
  }
  if (ids.empty()) return;
  ids.clear();
  for (std::uint32_t at = 0; at != kNone; at = pieces[at].next) ids.push_back(pieces[at].id);
}

std::vector<MergeStep> MergeTable::steps(std::vector<int> ids) const {
  std::vector<MergeStep> steps;
  while (true) {
    Slot best;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const Slot& slot = slots_[slot_of(pair_of(ids[i], ids[i + 1]))];
      if (slot.rank < best.rank) best = slot;
    }
    if (best.rank == kNoRank) return steps;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      if (pair_of(ids[i], ids[i + 1]) != best.pair) continue;
      steps.push_back({static_cast<int>(best.rank), ids[i], ids[i + 1], best.merged, i});
      ids[i] = best.merged;
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }
}

}  // namespace headscope::model
