#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::model {

// GPT-2's files write tokens as text although tokens are bytes: every byte is represented by a printable
// character (`bytes_to_unicode` in the published `encoder.py`; the space is `Ġ`, the newline `Ċ`).

/// The bytes of a token, from its name in `vocab.json`; nothing if a character is outside the alphabet.
std::optional<std::string> bytes_of_name(std::string_view name);

/// The name, in UTF-8, of the token for a single byte.
std::string name_of_byte(unsigned char byte);

/// Two adjacent tokens that are merged into one.
struct Merge {
  int left = 0;
  int right = 0;
  int merged = 0;
};

/// One merge in a word: two adjacent pieces become one.
struct MergeStep {
  int rank = 0;  ///< rank of the merge; 0: the first line of merges.txt
  int left = 0;  ///< ids of the tokens
  int right = 0;
  int merged = 0;
  std::size_t at = 0;  ///< index of the left token among the pieces before this step
  bool operator==(const MergeStep&) const = default;
};

/// The merges of byte-level BPE (Sennrich et al. 2016; `bpe` in GPT-2's published `encoder.py`), on ids.
class MergeTable {
 public:
  /// The merges in order of rank. If a pair is listed twice, the later rank counts, as in the published code.
  /// A merged token must be longer than its parts.
  explicit MergeTable(std::span<const Merge> merges);

  /// Scratch memory that can be reused for many words.
  class Workspace;

  /// Applies the merges to one word: `ids` are the tokens of its bytes before, and its tokens afterwards. As
  /// in the published code, all occurrences of the pair with the lowest rank are merged, from left to right,
  /// before any pair that results from this is considered. Takes time n log n in the length of the word.
  void apply(std::vector<int>& ids, Workspace& workspace) const;

  /// The merges that `apply` makes in a word, in order. Takes time n^2, so use it only to show a word.
  std::vector<MergeStep> steps(std::vector<int> ids) const;

 private:
  static constexpr std::uint32_t kNoRank = ~std::uint32_t{0};
  struct Slot {
    std::uint64_t pair = ~std::uint64_t{0};
    std::uint32_t rank = kNoRank;
    int merged = -1;
  };
  std::size_t slot_of(std::uint64_t pair) const;

  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
  int shift_ = 0;
};

class MergeTable::Workspace {
  friend class MergeTable;
  struct Piece {
    int id;
    int merged;          // the token that this piece and the next would become
    std::uint32_t rank;  // rank of that merge
    std::uint32_t previous, next;
  };
  std::vector<Piece> pieces_;
  std::vector<std::uint64_t>
      heap_;  // rank in the upper half, piece in the lower: lowest rank first, then leftmost
  std::vector<std::uint32_t> changed_;
};

}  // namespace headscope::model
