#pragma once
#include <cstddef>
#include <string_view>

namespace headscope::model {

/// GPT-2 cuts a text into words before it merges bytes; no token reaches over the end of a word. The words
/// are the matches of the published expression, in Unicode's classes,
///
///     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
///
/// found here by a scanner of our own, because the seven alternatives need no backtracking beyond one
/// character, and a scanner is linear in the length of any text and knows what to do with bytes that are no
/// UTF-8: each is a character that is neither letter, number nor white space.

/// The end of the word that begins at `begin` < text.size(). Words cover the text: the next begins there.
std::size_t word_end(std::string_view text, std::size_t begin);

enum class CharacterClass { letter, number, space, other };

/// The class of a code point, by the utf8proc library's Unicode data.
CharacterClass character_class(char32_t code_point);

}  // namespace headscope::model
