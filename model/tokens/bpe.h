#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headscope::model {

/// Two neighbouring tokens that become one.
struct Merge {
  int left = 0;
  int right = 0;
  int merged = 0;
};

/// One merge of a word: two neighbouring pieces became one.
struct MergeStep {
  int rank = 0;  ///< of the merge, 0 the first of merges.txt
  int left = 0;  ///< ids of the tokens
  int right = 0;
  int merged = 0;
  std::size_t at = 0;  ///< which of the pieces before this step the left one was
  bool operator==(const MergeStep&) const = default;
};

/// The merging of byte-level BPE (Sennrich et al. 2016; `bpe` of GPT-2's published `encoder.py`), on ids.
class MergeTable {
 public:
  /// The merges in the order of their rank; of a pair that stands twice, the later rank counts, as in the
  /// published code. A merged token must be longer than its parts.
  explicit MergeTable(std::span<const Merge> merges);

  /// Scratch memory, to be reused from word to word.
  class Workspace;

  /// Applies the merges to one word: `ids` are its bytes' tokens before and its tokens after. As in the
  /// published code, the pair of the lowest rank is merged wherever it stands, from left to right, before any
  /// pair that this makes is looked at. Takes time n log n in the length of the word.
  void apply(std::vector<int>& ids, Workspace& workspace) const;

  /// The merges that `apply` makes of a word, in their order. Takes time n^2: for words that somebody looks
  /// at.
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
    int merged;          // what this piece and the next would become
    std::uint32_t rank;  // of that merge
    std::uint32_t previous, next;
  };
  std::vector<Piece> pieces_;
  std::vector<std::uint64_t>
      heap_;  // a rank in the upper half, a piece in the lower: lowest rank first, then leftmost
  std::vector<std::uint32_t> changed_;
};

}  // namespace headscope::model
