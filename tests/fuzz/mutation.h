#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::fuzz {

/// Mutates texts slightly and reproducibly: flips bits, cuts, repeats and swaps pieces, and inserts words of
/// the format at random places. Uses the generator's numbers directly, because the standard distributions
/// differ between libraries.
class Mutator {
 public:
  /// `words`: words of the format to insert.
  Mutator(std::uint64_t seed, std::vector<std::string> words);

  /// Applies one to four mutations.
  std::string mutate(std::string text);

  /// One of the words.
  const std::string& word() { return words_[below(words_.size())]; }

  std::size_t below(std::size_t count) { return count == 0 ? 0 : random_() % count; }

 private:
  void difference(std::string& text);

  std::mt19937_64 random_;
  std::vector<std::string> words_;
};

/// The parts of a text between separators: "read write" has two.
std::vector<std::string> words_in(std::string_view text, char separator = ' ');

/// Tokens of JSON, and numbers at the limits of their types.
std::vector<std::string> json_words();

// Mutations that preserve the structure of a file, so that they reach the code after a header, checksum or
// bracket. Input without that structure is mutated byte by byte.

/// Mutates values, keys, members and elements of JSON.
std::string mutate_json(Mutator& mutator, const std::string& json);

/// Mutates one line as JSON.
std::string mutate_json_lines(Mutator& mutator, const std::string& text);

/// Mutates the header as JSON, with the right length and data of the size it declares.
std::string mutate_safetensors(Mutator& mutator, const std::string& file);

/// Removes, duplicates, swaps or mutates lines.
std::string mutate_lines(Mutator& mutator, const std::string& text);

}  // namespace headscope::fuzz
