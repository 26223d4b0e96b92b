#include "app/text/text_boundaries.h"

#include <utf8proc.h>

#include <algorithm>

#include "viz/text/utf8.h"

namespace headscope::app {
namespace {

constexpr char32_t kApostrophe = 0x2019;

utf8proc_int32_t code(char32_t c) {
  return static_cast<utf8proc_int32_t>(c);
}

/// Start of the character that holds the byte before `at` > 0. Well-formed characters never overlap, so
/// looking back finds the same characters as reading from the start.
std::size_t character_before(std::string_view text, std::size_t at) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(at, 4); ++back) {
    const viz::Decoded c = viz::decode_utf8(text, at - back);
    if (c.valid && c.length >= back) return at - back;
  }
  return at - 1;
}

enum class CharClass { word, space, sign, line_break };

/// Letters, marks, numbers and connectors, which are consecutive in utf8proc.
bool is_word_category(utf8proc_category_t category) {
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_PC;
}

/// The class of a character. Invalid bytes count as letters, so that a run of them is selected together.
CharClass class_of(const viz::Decoded& c) {
  if (!c.valid) return CharClass::word;
  if (c.code == '\n' || c.code == '\r') return CharClass::line_break;
  const utf8proc_category_t category = utf8proc_category(code(c.code));
  if (c.code == '\t' || category == UTF8PROC_CATEGORY_ZS) return CharClass::space;
  return is_word_category(category) ? CharClass::word : CharClass::sign;
}

/// The class of the grapheme at a boundary `at` < size, which is that of its first character. An apostrophe
/// between letters counts as a letter.
CharClass class_at(std::string_view text, std::size_t at) {
  const viz::Decoded c = viz::decode_utf8(text, at);
  if (c.code != '\'' && c.code != kApostrophe) return class_of(c);
  const std::size_t after = at + c.length;
  const bool within = at > 0 && after < text.size() &&
                      class_of(viz::decode_utf8(text, character_before(text, at))) == CharClass::word &&
                      class_of(viz::decode_utf8(text, after)) == CharClass::word;
  return within ? CharClass::word : CharClass::sign;
}

bool is_blank(CharClass c) {
  return c == CharClass::space || c == CharClass::line_break;
}

/// A boundary before `at` > 0: the nearest that can be told without reading from the start, which is one
/// after a line feed or between two ASCII characters.
std::size_t boundary_before(std::string_view text, std::size_t at) {
  const auto is_boundary = [&](std::size_t i) {
    const char before = text[i - 1];
    return before == '\n' || (is_ascii(before) && before != '\r' && is_ascii(text[i]));
  };
  std::size_t start = at - 1;
  while (start > 0 && !is_boundary(start)) --start;
  return start;
}

/// Start of the run of graphemes of one class, other than line breaks, that ends at `at` > 0.
std::size_t run_start(std::string_view text, std::size_t at, CharClass run) {
  std::size_t start = text.find_last_of("\r\n", at - 1) + 1;
  for (std::size_t here = start; here < at;) {
    const std::size_t next = next_grapheme(text, here);
    if (class_at(text, here) != run) start = next;
    here = next;
  }
  return start;
}

/// End of the run that begins at `at`.
std::size_t run_end(std::string_view text, std::size_t at, CharClass run) {
  while (at < text.size() && class_at(text, at) == run) at = next_grapheme(text, at);
  return at;
}

}  // namespace

std::size_t next_grapheme(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return text.size();
  if (is_ascii(text[at]) && is_ascii(text[at + 1]) && text[at] != '\r')
    return at + 1;  // fast path for most text
  viz::Decoded last = viz::decode_utf8(text, at);
  std::size_t end = at + last.length;
  if (!last.valid) return end;
  utf8proc_int32_t state = 0;
  for (int length = 1; length < kLongestGrapheme && end < text.size(); ++length) {
    const viz::Decoded next = viz::decode_utf8(text, end);
    if (!next.valid || utf8proc_grapheme_break_stateful(code(last.code), code(next.code), &state)) break;
    end += next.length;
    last = next;
  }
  return end;
}

std::size_t previous_grapheme(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  if (at == 0) return 0;
  std::size_t boundary = boundary_before(text, at);
  for (;;) {
    const std::size_t next = next_grapheme(text, boundary);
    if (next >= at) return boundary;
    boundary = next;
  }
}

std::size_t grapheme_floor(std::string_view text, std::size_t at) {
  return at >= text.size() ? text.size() : previous_grapheme(text, at + 1);
}

std::size_t next_word(std::string_view text, std::size_t at) {
  at = grapheme_floor(text, at);
  while (at < text.size() && is_blank(class_at(text, at))) at = next_grapheme(text, at);
  return at < text.size() ? run_end(text, at, class_at(text, at)) : at;
}

std::size_t previous_word(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  while (at > 0) {
    const std::size_t before = previous_grapheme(text, at);
    const CharClass run = class_at(text, before);
    at = run == CharClass::line_break ? before : run_start(text, at, run);
    if (!is_blank(run)) break;
  }
  return at;
}

ByteRange word_at(std::string_view text, std::size_t at) {
  if (text.empty()) return {};
  std::size_t start = grapheme_floor(text, at);
  const bool behind_line = start == text.size() || class_at(text, start) == CharClass::line_break;
  if (behind_line && start > 0) {
    const std::size_t before = previous_grapheme(text, start);
    if (start == text.size() || class_at(text, before) != CharClass::line_break) start = before;
  }
  const CharClass run = class_at(text, start);
  if (run == CharClass::line_break) return {start, next_grapheme(text, start)};
  const std::size_t end = run_end(text, start, run);
  return {run_start(text, end, run), end};
}

ByteRange paragraph_at(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t after = text.find('\n', at);
  return {before == std::string_view::npos ? 0 : before + 1,
          after == std::string_view::npos ? text.size() : after + 1};
}

}  // namespace headscope::app
