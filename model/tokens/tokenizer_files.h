#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::model {

/// The contents of a tokenizer's files. Their syntax has been checked, but not whether they are consistent.
struct TokenizerFiles {
  struct Entry {
    std::string name;  ///< in the byte alphabet
    int id = 0;
  };
  struct Merge {
    std::string merged;         ///< the name of the merged token
    std::size_t left_size = 0;  ///< length in bytes of the left token's name
    std::string_view left() const { return std::string_view(merged).substr(0, left_size); }
    std::string_view right() const { return std::string_view(merged).substr(left_size); }
  };
  struct Added {
    std::string text;  ///< as written in a prompt
    int id = 0;
  };
  std::string vocabulary_file;  ///< for messages
  std::string merges_file;
  std::vector<Entry> vocabulary;  ///< in the order of the file
  std::vector<Merge> merges;      ///< by rank
  std::vector<Added> added;       ///< matched before the text is split into words
};

/// Parses `vocab.json`: one object of names and ids. Throws LoadError for invalid JSON, a different
/// structure, ids outside [0, 2^24) and duplicate names.
std::vector<TokenizerFiles::Entry> parse_vocabulary(std::string_view json, const std::string& file);

/// Parses `merges.txt`: one merge per line, two names separated by a space. Throws LoadError that names the
/// merge by its rank.
std::vector<TokenizerFiles::Merge> parse_merges(std::string_view text, const std::string& file);

/// Parses Hugging Face's `tokenizer.json`, with merges in either form ("a b" or ["a", "b"]). Throws LoadError
/// that names the key for any setting that would produce tokens different from GPT-2's byte-level BPE.
TokenizerFiles parse_tokenizer_json(std::string_view json, const std::string& file);

}  // namespace headscope::model
