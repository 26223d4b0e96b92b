#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <stop_token>
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
    std::string text;     ///< as written in a prompt
    int id = -1;          ///< -1: the vocabulary's, else the next free one
    bool lstrip = false;  ///< takes the white space before it, too
    bool rstrip = false;
    bool single_word = false;  ///< not within a word
  };
  std::string vocabulary_file = {};  ///< for messages
  std::string merges_file = {};
  std::vector<Entry> vocabulary = {};  ///< in the order of the file
  std::vector<Merge> merges = {};      ///< by rank
  /// Matched before the text is split into words. A text may occur several times, the last one with an id
  /// counts.
  std::vector<Added> added = {};
  std::string bos_token = {};    ///< empty: none is named
  std::string first_token = {};  ///< put before every text by a template; empty: none
  std::optional<bool> add_bos_token = {};
  bool add_prefix_space = false;
  std::vector<std::string> warnings = {};  ///< about what the files want and a Tokenizer does not do
};

/// Reads the files of a folder as Hugging Face's AutoTokenizer does: `tokenizer.json`, else `vocab.json` and
/// `merges.txt` (with a warning if there is a tokenizer.json that cannot be used), and in both cases
/// `added_tokens.json`, `special_tokens_map.json` and `tokenizer_config.json`. Throws LoadError, which names
/// the file and the key, for files that are missing or have another structure, for ids outside [0, 2^24), and
/// for any setting that would produce tokens different from those of GPT-2's byte-level BPE. Throws Stopped.
TokenizerFiles read_tokenizer_files(const std::filesystem::path& folder, const std::stop_token& stop = {});

/// The same from the texts of `vocab.json` (one object of names and ids) and `merges.txt` (a merge on each
/// line: two names separated by a space).
TokenizerFiles parse_vocab_and_merges(std::string_view vocab_json, std::string_view merges_txt,
                                      const std::string& folder, const std::stop_token& stop = {});

/// The same from the text of a `tokenizer.json`, with merges in either form ("a b" or ["a", "b"]).
TokenizerFiles parse_tokenizer_json(std::string_view json, const std::string& file);

}  // namespace headscope::model
