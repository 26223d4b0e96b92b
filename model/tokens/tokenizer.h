#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "model/tokens/bpe.h"

namespace headscope::model {

struct TokenizerFiles;

/// A token of a text: its id and its byte range [start, end) in the text.
struct Token {
  int id = 0;
  std::size_t start = 0;
  std::size_t end = 0;
  bool operator==(const Token&) const = default;
};

/// GPT-2's byte-level BPE (Radford et al. 2019; the published `encoder.py`). Immutable and thread-safe.
///
/// A text may be any bytes. The ranges of the tokens cover it without gaps, and decode(encode(x)) == x byte
/// for byte, unless the tokenizer's files want spaces added before a text or taken away around a token. Bytes
/// that are not UTF-8 count as characters that are neither letter, number nor white space.
class Tokenizer {
 public:
  /// Reads a model's folder (see read_tokenizer_files). Throws LoadError, also for duplicate ids, a merge of
  /// unknown pieces, and a vocabulary that needs merges and has none; or Stopped.
  static Tokenizer load(const std::filesystem::path& folder, const std::stop_token& stop = {});
  /// Stands for the tokenizer of a model that has none, because of `problem`, a sentence.
  static Tokenizer missing(std::string problem);

  /// `specials`: whether `<|endoftext|>` (and other added tokens) in the text are special tokens; else they
  /// are plain text. Throws RunError for a byte that the vocabulary has no token for. Without a tokenizer, a
  /// text is a row of ids, as decode writes them; throws RunError for any other.
  std::vector<Token> encode(std::string_view text, bool specials = true) const;

  /// The merges that turn the bytes of a word into its tokens, in order. The text is not split into words:
  /// given the bytes of a token, these are the merges that form it in any text.
  std::vector<MergeStep> merges(std::string_view word) const;

  /// The texts of ids, one after the other.
  std::string decode(std::span<const int> ids) const;

  /// The bytes of a token, or `#4100` for an id without any (a gap in a padded vocabulary).
  std::string text(int id) const;

  /// The bytes of a token; empty for an id without a token. Valid as long as the tokenizer.
  std::string_view bytes(int id) const;

  /// The largest id plus one.
  int size() const { return size_; }

  /// The id of `<|endoftext|>`, which starts every text of the training data.
  std::optional<int> end_of_text() const { return end_of_text_; }

  /// The token that starts a text: the one that the files put there, or their `bos_token`, or
  /// `<|endoftext|>`.
  std::optional<int> start_token() const { return start_token_; }
  /// Whether the files want every text to start with it.
  bool adds_start_token() const { return adds_start_token_; }

  /// Why there is no tokenizer; empty: there is one.
  const std::string& problem() const { return problem_; }
  /// Sentences about what the files want and this tokenizer does not do, or why there is none.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Tables;
  explicit Tokenizer(TokenizerFiles files);

  std::shared_ptr<const Tables> tables_;
  std::optional<int> end_of_text_, start_token_;
  bool adds_start_token_;
  int size_ = 0;
  std::string problem_;
  std::vector<std::string> warnings_;
};

}  // namespace headscope::model
