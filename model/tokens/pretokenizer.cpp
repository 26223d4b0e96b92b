#include "model/tokens/pretokenizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace headscope::model {
namespace {

struct Character {
  utf8proc_int32_t code_point;  // -1: not UTF-8, a byte on its own
  std::size_t length;           // in bytes
  CharacterClass kind;
};

Character character_at(std::string_view text, std::size_t at) {
  static const std::array<CharacterClass, 128> kAscii = [] {
    std::array<CharacterClass, 128> classes{};
    for (char32_t c = 0; c < 128; ++c) classes[c] = character_class(c);
    return classes;
  }();
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 128) return {byte, 1, kAscii[byte]};
  utf8proc_int32_t value = 0;
  const auto length =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                       static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size() - at, 4)), &value);
  if (length <= 0) return {-1, 1, CharacterClass::other};
  return {value, static_cast<std::size_t>(length), character_class(static_cast<char32_t>(value))};
}

/// Where the character that ends at `end` > 0 begins.
std::size_t previous_character(std::string_view text, std::size_t end) {
  for (std::size_t length = 2; length <= std::min<std::size_t>(end, 4); ++length)
    if (character_at(text, end - length).length == length) return end - length;
  return end - 1;
}

// The end of the run of characters of one class that starts at `from`.
std::size_t run_end(std::string_view text, std::size_t from, CharacterClass kind) {
  while (from < text.size()) {
    const Character next = character_at(text, from);
    if (next.kind != kind) break;
    from += next.length;
  }
  return from;
}

}  // namespace

CharacterClass character_class(char32_t code_point) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
  // Unicode's White_Space, which \s matches: separators, and tabs and ends of lines, which are controls.
  if (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP) return CharacterClass::space;
  if ((code_point >= 0x09 && code_point <= 0x0d) || code_point == 0x85) return CharacterClass::space;
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) return CharacterClass::letter;
  if (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO) return CharacterClass::number;
  return CharacterClass::other;
}

std::size_t word_end(std::string_view text, std::size_t begin) {
  for (const std::string_view contraction : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.substr(begin).starts_with(contraction)) return begin + contraction.size();
  if (text[begin] == ' ' && begin + 1 < text.size()) {  // the optional space of the next three alternatives
    const Character second = character_at(text, begin + 1);
    if (second.kind != CharacterClass::space) return run_end(text, begin + 1, second.kind);
  }
  const CharacterClass kind = character_at(text, begin).kind;
  const std::size_t end = run_end(text, begin, kind);
  if (kind != CharacterClass::space || end == text.size()) return end;
  // \s+(?!\S)|\s+ : all but the last character, which may belong to the next word; a single one is a word.
  const std::size_t last = previous_character(text, end);
  return last == begin ? end : last;
}

std::size_t white_space_begin(std::string_view text, std::size_t end, std::size_t low) {
  while (end > low) {
    const std::size_t begin = previous_character(text, end);
    if (character_at(text, begin).kind != CharacterClass::space) break;
    end = begin;
  }
  return end;
}

std::size_t white_space_end(std::string_view text, std::size_t begin) {
  return run_end(text, begin, CharacterClass::space);
}

bool word_begins_at(std::string_view text, std::size_t at) {
  constexpr utf8proc_int32_t kNonJoiner = 0x200c, kJoiner = 0x200d;
  if (at == text.size()) return false;
  const utf8proc_int32_t c = character_at(text, at).code_point;
  const auto category = utf8proc_category(c);
  return c >= 0 && ((category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) ||
                    category == UTF8PROC_CATEGORY_PC || c == kNonJoiner || c == kJoiner);
}

bool word_ends_at(std::string_view text, std::size_t at) {
  return at > 0 && word_begins_at(text, previous_character(text, at));
}

}  // namespace headscope::model
