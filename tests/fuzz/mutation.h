#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::testing {

/// Mutates texts a little, the same way for the same seed: flips bits, cuts, repeats and swaps pieces, and
/// puts words of the format where they do not belong. Only the generator's own numbers are used, as the
/// standard's distributions differ between libraries.
class Mutator {
 public:
  /// `words`: what the format is made of, to be put into the text.
  Mutator(std::uint64_t seed, std::vector<std::string> words);

  /// One to four changes.
  std::string mutate(std::string text);

  /// One of the words.
  const std::string& word() { return words_[below(words_.size())]; }

  std::size_t below(std::size_t count) { return count == 0 ? 0 : random_() % count; }

 private:
  void difference(std::string& text);

  std::mt19937_64 random_;
  std::vector<std::string> words_;
};

/// Words that JSON is made of, and numbers at the edges of their types.
std::vector<std::string> json_words();

}  // namespace headscope::testing
