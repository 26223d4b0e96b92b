#pragma once
#include <cstddef>
#include <string_view>

namespace headscope::app {

// Caret positions in bytes that are mostly, but not always, UTF-8. A byte outside a well-formed character
// counts as a character. All offsets are in bytes; those beyond the end count as the end.

inline bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

/// Bytes [begin, end).
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  bool operator==(const ByteRange&) const = default;
};

/// The longest grapheme, in characters: longer runs of combining marks are cut, so that nothing takes
/// quadratic time.
inline constexpr int kLongestGrapheme = 128;

/// First boundary of an extended grapheme cluster (Unicode Annex 29) after `at`, which must be a boundary.
std::size_t next_grapheme(std::string_view text, std::size_t at);
/// Last boundary before `at`, which may be any byte; 0 at the start.
std::size_t previous_grapheme(std::string_view text, std::size_t at);
/// Last boundary at or before `at`.
std::size_t grapheme_floor(std::string_view text, std::size_t at);

/// End of the word after `at`: skips spaces, then letters and digits, or else signs.
std::size_t next_word(std::string_view text, std::size_t at);
/// Start of the word before `at`.
std::size_t previous_word(std::string_view text, std::size_t at);

/// What a double click at `at` selects: a run of letters and digits, of spaces, or of signs; or a single line
/// break.
ByteRange word_at(std::string_view text, std::size_t at);
/// The line around `at`, including its line feed.
ByteRange paragraph_at(std::string_view text, std::size_t at);

}  // namespace headscope::app
