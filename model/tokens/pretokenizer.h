#pragma once
#include <cstddef>
#include <string_view>

namespace headscope::model {

/// GPT-2 splits a text into words before it merges bytes; no token crosses the end of a word. The words are
/// the matches of the published expression, with Unicode's classes,
///
///     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
///
/// They are found by a handwritten scanner: the alternatives need no backtracking beyond one character,
/// and the scanner is linear in the length of any text and handles bytes that are not UTF-8, each of which is
/// a character that is neither letter, number nor white space.

/// The end of the word that begins at `begin` < text.size(). Words cover the text: the next one begins there.
std::size_t word_end(std::string_view text, std::size_t begin);

// For added tokens that take the white space around them, or are not matched within words.

/// The beginning, not before `low`, of the white space that ends at `end`.
std::size_t white_space_begin(std::string_view text, std::size_t end, std::size_t low);
/// The end of the white space that begins at `begin`.
std::size_t white_space_end(std::string_view text, std::size_t begin);

/// Whether the character that ends, or begins, at `at` is one of words: \w, which is a letter, a mark, a
/// digit or a connector.
bool word_ends_at(std::string_view text, std::size_t at);
bool word_begins_at(std::string_view text, std::size_t at);

enum class CharacterClass { letter, number, space, other };

/// The class of a code point, from the Unicode data of the utf8proc library.
CharacterClass character_class(char32_t code_point);

}  // namespace headscope::model
