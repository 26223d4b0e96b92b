#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/tokens/bpe.h"

namespace headscope::model {

/// One token of a text: its id and the byte range [start, end) of the text that it stands for.
struct Token {
  int id = 0;
  std::size_t start = 0;
  std::size_t end = 0;
  bool operator==(const Token&) const = default;
};

/// GPT-2's byte-level BPE (Radford et al. 2019; the published `encoder.py`). Immutable and safe to share.
///
/// Text is any bytes whatever: encoding never fails and the ranges of the tokens cover the text without gaps,
/// so that decode(encode(x)) == x byte for byte. Bytes that are no UTF-8 count as characters that are neither
/// letter, number nor white space.
class Tokenizer {
 public:
  /// Reads `vocab.json` + `merges.txt`, or else `tokenizer.json`, from a model's folder.
  /// Throws LoadError: neither is there; no JSON; ids that repeat or are negative; a merge of unknown pieces;
  /// a vocabulary without some single byte; a tokenizer.json that is not byte-level BPE.
  static Tokenizer load(const std::filesystem::path& folder);

  /// From the texts of the two files; `where`, their folder, is named in messages.
  static Tokenizer from_vocab_and_merges(std::string_view vocab_json, std::string_view merges_txt,
                                         const std::string& where);
  /// From the text of a Hugging Face `tokenizer.json`; `where`, the file, is named in messages.
  static Tokenizer from_tokenizer_json(std::string_view json, const std::string& where);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// `specials`: whether `<|endoftext|>` (and other added tokens) in the text are the special token or plain
  /// text.
  std::vector<Token> encode(std::string_view text, bool specials = true) const;

  /// The merges that make tokens of a word, in their order, from one piece for each of its bytes on. The word
  /// is not split as a text is: the bytes of a token give the merges that built it, wherever it stood.
  std::vector<MergeStep> merges(std::string_view word) const;

  /// Ids without a token (the gaps of a padded vocabulary) give no bytes.
  std::string decode(std::span<const int> ids) const;

  /// The bytes that a token stands for; empty for an id without a token. Stays valid as long as the
  /// tokenizer.
  std::string_view bytes(int id) const;

  /// One more than the largest id.
  int size() const;

  /// The id of `<|endoftext|>`, which starts every text of the training data.
  std::optional<int> end_of_text() const;

 private:
  struct Tables;
  explicit Tokenizer(std::unique_ptr<const Tables> tables);
  std::unique_ptr<const Tables> tables_;
};

}  // namespace headscope::model
