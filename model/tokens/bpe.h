#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headscope::model {

// GPT-2's files write tokens as text although tokens are bytes: every byte is represented by a printable
// character (`bytes_to_unicode` in the published `encoder.py`; the space is `Ġ`, the newline `Ċ`).

/// The bytes of a token, from its name in `vocab.json`; nothing if a character is outside the alphabet.
std::optional<std::string> bytes_of_name(std::string_view name);

/// The name, in UTF-8, of the token for a single byte.
std::string name_of_byte(unsigned char byte);

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
  explicit MergeTable(std::size_t count) { merges_.reserve(count); }

  /// Adds the merge of the next rank. If a pair is added twice, the later rank counts, as in the published
  /// code. The merged token must be longer than its parts.
  void add(int left, int right, int merged);

  /// Applies the merges to one word: `ids` are the tokens of its bytes before, and its tokens afterwards. As
  /// in the published code, all occurrences of the pair with the lowest rank are merged, from left to right,
  /// before any pair that results from this is considered. Takes time n log n in the length of the word, but
  /// n^2 if `steps` receives the merges, in order.
  void apply(std::vector<int>& ids, std::vector<MergeStep>* steps = nullptr) const;

 private:
  struct Ranked {
    int rank = -1;  ///< -1: no merge
    int merged = -1;
  };

  int next_rank_ = 0;
  std::unordered_map<std::uint64_t, Ranked> merges_;  // by pair
};

}  // namespace headscope::model
