#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::model {

/// What a tokenizer's files say, their form checked but not yet whether it fits together.
struct TokenizerFiles {
  struct Entry {
    std::string name;  ///< in the byte alphabet
    int id = 0;
  };
  struct Added {
    std::string text;  ///< as it stands in a prompt
    int id = 0;
  };
  std::string vocabulary_file;  ///< for messages
  std::string merges_file;
  std::vector<Entry> vocabulary;                            ///< in the order of the file
  std::vector<std::pair<std::string, std::string>> merges;  ///< names, by rank
  std::vector<Added> added;                                 ///< found in the text before it is cut into words
};

/// `vocab.json`: one object of names and ids. Throws LoadError: no JSON, another form, ids outside [0, 2^24),
/// a name that stands twice.
std::vector<TokenizerFiles::Entry> parse_vocabulary(std::string_view json, const std::string& file);

/// `merges.txt`: a line a merge, two names and a space between them. Throws LoadError naming the line.
std::vector<std::pair<std::string, std::string>> parse_merges(std::string_view text, const std::string& file);

/// Hugging Face's `tokenizer.json`, both forms of merges ("a b" and ["a", "b"]). Throws LoadError naming the
/// key for whatever would cut text into other tokens than GPT-2's byte-level BPE does.
TokenizerFiles parse_tokenizer_json(std::string_view json, const std::string& file);

}  // namespace headscope::model
