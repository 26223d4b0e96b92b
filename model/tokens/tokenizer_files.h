#pragma once
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace headscope::model {

/// The contents of a tokenizer's files. Their syntax has been checked, but not whether they are consistent.
struct TokenizerFiles {
  struct Added {
    std::string text;     ///< as written in a prompt
    int id = -1;          ///< -1: the vocabulary's, else the next free one
    bool lstrip = false;  ///< takes the white space before it, too
    bool rstrip = false;
    bool single_word = false;  ///< not within a word
  };
  std::string vocabulary_file = {};  ///< for messages
  std::string merges_file = {};
  std::vector<std::pair<std::string, int>> vocabulary = {};      ///< names in the byte alphabet, and ids
  std::vector<std::pair<std::string, std::string>> merges = {};  ///< names of two tokens, by rank
  /// Matched before the text is split into words. A text may occur several times, the last one with an id
  /// counts.
  std::vector<Added> added = {};
  std::string bos_token = {};    ///< empty: none is named
  std::string first_token = {};  ///< put before every text by a template; empty: none
  std::optional<bool> add_bos_token = {};
  bool add_prefix_space = false;
  std::vector<std::string> warnings = {};  ///< about what the files want and a Tokenizer does not do
};

/// The names of the files that read_tokenizer_files looks for.
inline constexpr const char* kTokenizerFiles[] = {
    "vocab.json",           "merges.txt", "tokenizer.json", "added_tokens.json", "special_tokens_map.json",
    "tokenizer_config.json"};

/// Reads the files of a folder as Hugging Face's AutoTokenizer does: `tokenizer.json`, else `vocab.json` (one
/// object of names and ids) and `merges.txt` (a merge on each line: two names separated by a space), with a
/// warning if there is a tokenizer.json that cannot be used; and in both cases `added_tokens.json`,
/// `special_tokens_map.json` and `tokenizer_config.json`. Throws LoadError, which names the file and the key,
/// for files that are missing or have another structure, for ids outside [0, 2^24), and for any setting that
/// would produce tokens different from those of GPT-2's byte-level BPE. Throws Stopped.
TokenizerFiles read_tokenizer_files(const std::filesystem::path& folder, const std::stop_token& stop = {});

}  // namespace headscope::model
