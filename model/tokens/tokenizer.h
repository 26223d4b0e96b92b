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

/// A token of a text: its id and its byte range [start, end) in the text.
struct Token {
  int id = 0;
  std::size_t start = 0;
  std::size_t end = 0;
  bool operator==(const Token&) const = default;
};

/// GPT-2's byte-level BPE (Radford et al. 2019; the published `encoder.py`). Immutable and thread-safe.
///
/// A text may be any bytes: encoding never fails, and the ranges of the tokens cover the text without gaps,
/// so that decode(encode(x)) == x byte for byte. Bytes that are not UTF-8 count as characters that are
/// neither letter, number nor white space.
class Tokenizer {
 public:
  /// Reads `vocab.json` and `merges.txt`, or else `tokenizer.json`, from a model's folder. Throws LoadError
  /// if neither exists, for invalid JSON, duplicate or negative ids, a merge of unknown pieces, a vocabulary
  /// that lacks a single byte, and a tokenizer.json that is not byte-level BPE.
  static Tokenizer load(const std::filesystem::path& folder);

  /// Parses the texts of the two files; `where`, their folder, is named in messages.
  static Tokenizer from_vocab_and_merges(std::string_view vocab_json, std::string_view merges_txt,
                                         const std::string& where);
  /// Parses the text of a Hugging Face `tokenizer.json`; `where`, the file, is named in messages.
  static Tokenizer from_tokenizer_json(std::string_view json, const std::string& where);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// `specials`: whether `<|endoftext|>` (and other added tokens) in the text are special tokens; else they
  /// are plain text.
  std::vector<Token> encode(std::string_view text, bool specials = true) const;

  /// The merges that turn the bytes of a word into its tokens, in order. The text is not split into words:
  /// given the bytes of a token, these are the merges that form it in any text.
  std::vector<MergeStep> merges(std::string_view word) const;

  /// The text of ids. Ids without a token (gaps in a padded vocabulary) are skipped.
  std::string decode(std::span<const int> ids) const;

  /// The bytes of a token; empty for an id without a token. Valid as long as the tokenizer.
  std::string_view bytes(int id) const;

  /// The largest id plus one.
  int size() const;

  /// The id of `<|endoftext|>`, which starts every text of the training data.
  std::optional<int> end_of_text() const;

 private:
  struct Tables;
  explicit Tokenizer(std::unique_ptr<const Tables> tables);
  std::unique_ptr<const Tables> tables_;
};

}  // namespace headscope::model
