#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::testing {

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

}  // namespace headscope::testing
