#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::model {

/// What a tokenizer's files say, their form checked but not yet whether it fits together.
struct TokenizerFiles {
  struct Entry {
    std::string name;  ///< in the byte alphabet
    int id = 0;
  };
  struct Merge {
    std::string merged;         ///< the name of what two tokens become
    std::size_t left_size = 0;  ///< how many bytes of it are the left one's name
    std::string_view left() const { return std::string_view(merged).substr(0, left_size); }
    std::string_view right() const { return std::string_view(merged).substr(left_size); }
  };
  struct Added {
    std::string text;  ///< as it stands in a prompt
    int id = 0;
  };
  std::string vocabulary_file;  ///< for messages
  std::string merges_file;
  std::vector<Entry> vocabulary;  ///< in the order of the file
  std::vector<Merge> merges;      ///< by rank
  std::vector<Added> added;       ///< found in the text before it is cut into words
};

/// `vocab.json`: one object of names and ids. Throws LoadError: no JSON, another form, ids outside [0, 2^24),
/// a name that stands twice.
std::vector<TokenizerFiles::Entry> parse_vocabulary(std::string_view json, const std::string& file);

/// `merges.txt`: a line a merge, two names and a space between them. Throws LoadError naming the merge by its
/// rank.
std::vector<TokenizerFiles::Merge> parse_merges(std::string_view text, const std::string& file);

/// Hugging Face's `tokenizer.json`, both forms of merges ("a b" and ["a", "b"]). Throws LoadError naming the
/// key for whatever would cut text into other tokens than GPT-2's byte-level BPE does.
TokenizerFiles parse_tokenizer_json(std::string_view json, const std::string& file);

}  // namespace headscope::model
