#include "tests/fuzz/mutation.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace headscope::testing {

Mutator::Mutator(std::uint64_t seed, std::vector<std::string> words)
    : random_(seed), words_(std::move(words)) {}

std::string Mutator::mutate(std::string text) {
  for (std::size_t left = 1 + below(4); left > 0; --left) difference(text);
  return text;
}

void Mutator::difference(std::string& text) {
  const std::size_t at = below(text.size() + 1);
  const std::size_t count = std::min(text.size() - at, 1 + below(below(4) == 0 ? 200 : 8));
  switch (below(8)) {
    case 0:  // a bit
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ 1 << below(8));
      break;
    case 1:
      text.resize(at);
      break;
    case 2:
      text.erase(at, count);
      break;
    case 3:  // duplicate a piece
      text.insert(at, text.substr(at, count));
      break;
    case 4:  // copy a piece from elsewhere
      text.replace(at, count, text.substr(below(text.size() + 1), 1 + below(16)));
      break;
    case 5:
      text.insert(at, word());
      break;
    case 6:
      text.replace(at, count, word());
      break;
    default: {  // another number
      std::size_t first = text.find_first_of("0123456789", at);
      if (first == std::string::npos) break;
      std::size_t last = first;
      while (last < text.size() && std::isdigit(static_cast<unsigned char>(text[last])) != 0) ++last;
      text.replace(first, last - first, word());
    }
  }
}

std::vector<std::string> words_in(std::string_view text, char separator) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == separator)
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

std::vector<std::string> json_words() {
  std::vector<std::string> words = words_in(
      "{ } [ ] , : \" null true false {} [] \"\" 0 1 -1 1.5 1e400 2147483647 2147483648 4294967295 "
      "4294967296 9223372036854775807 9223372036854775808 18446744073709551615 99999999999999999999999 "
      "\\u0000 \\ud800 \x01 \xff");
  words.insert(words.end(), {std::string(1, '\0'), std::string(300, '['), std::string(1000, '9')});
  return words;
}

}  // namespace headscope::testing
