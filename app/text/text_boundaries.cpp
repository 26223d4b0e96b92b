#include "app/text/text_edit.h"

#include <utf8proc.h>

#include <algorithm>

#include "viz/text/utf8.h"

namespace headscope::app {
namespace {

enum class CharClass { word, space, sign, line_break };

/// The class of a character. Invalid bytes count as letters, so that a run of them is selected together.
CharClass class_of(const viz::Decoded& c) {
  if (!c.valid) return CharClass::word;
  if (c.code == '\n' || c.code == '\r') return CharClass::line_break;
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c.code));
  if (c.code == '\t' || category == UTF8PROC_CATEGORY_ZS) return CharClass::space;
  // Letters, marks, numbers and connectors are consecutive.
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_PC ? CharClass::word
                                                                              : CharClass::sign;
}

/// The class of the grapheme at a boundary `at` < size after one of class `before`, which is that of its
/// first character. An apostrophe between letters counts as a letter.
CharClass class_at(std::string_view text, std::size_t at, CharClass before = CharClass::sign) {
  const viz::Decoded c = viz::decode_utf8(text, at);
  const std::size_t after = at + c.length;
  const bool within = (c.code == '\'' || c.code == U'’') && before == CharClass::word &&
                      after < text.size() && class_of(viz::decode_utf8(text, after)) == CharClass::word;
  return within ? CharClass::word : class_of(c);
}

bool is_blank(CharClass c) {
  return c == CharClass::space || c == CharClass::line_break;
}

/// The last place up to `at` < size where a word or sign begins whatever is before it, so that long texts are
/// not read from the start: after a line feed, or an ASCII character after a space.
std::size_t certain_start(std::string_view text, std::size_t at) {
  const auto is_ink = [&](char c) { return is_ascii(c) && c > ' '; };
  while (at > 0 && text[at - 1] != '\n' && !(text[at - 1] == ' ' && is_ink(text[at]))) --at;
  return at;
}

/// The graphemes of one class that hold a byte `at` < size; each line break is alone.
ByteRange run_at(std::string_view text, std::size_t at) {
  ByteRange run{0, certain_start(text, at)};
  while (run.end <= at) {
    run = {run.end, next_grapheme(text, run.end)};
    const CharClass all = class_at(text, run.begin);
    while (all != CharClass::line_break && run.end < text.size() && class_at(text, run.end, all) == all)
      run.end = next_grapheme(text, run.end);
  }
  return run;
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
    if (!next.valid || utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(last.code),
                                                        static_cast<utf8proc_int32_t>(next.code), &state))
      break;
    end += next.length;
    last = next;
  }
  return end;
}

std::size_t previous_grapheme(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  if (at == 0) return 0;
  std::size_t boundary = certain_start(text, at - 1);
  for (std::size_t next; (next = next_grapheme(text, boundary)) < at;) boundary = next;
  return boundary;
}

std::size_t grapheme_floor(std::string_view text, std::size_t at) {
  return at >= text.size() ? text.size() : previous_grapheme(text, at + 1);
}

std::size_t next_word(std::string_view text, std::size_t at) {
  for (bool blank = true; blank && at < text.size();) {
    const ByteRange run = run_at(text, at);
    blank = is_blank(class_at(text, run.begin));
    at = run.end;
  }
  return std::min(at, text.size());
}

std::size_t previous_word(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  for (bool blank = true; blank && at > 0;) {
    at = run_at(text, at - 1).begin;
    blank = is_blank(class_at(text, at));
  }
  return at;
}

ByteRange word_at(std::string_view text, std::size_t at) {
  if (text.empty()) return {};
  const ByteRange run = run_at(text, std::min(at, text.size() - 1));
  const auto is_break = [&](ByteRange of) { return class_at(text, of.begin) == CharClass::line_break; };
  if (at >= text.size() || !is_break(run) || run.begin == 0) return run;
  const ByteRange before = run_at(text, run.begin - 1);  // behind a line: its last word
  return is_break(before) ? run : before;
}

ByteRange paragraph_at(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  const std::size_t feed = text.find('\n', at);
  return {text.substr(0, at).rfind('\n') + 1, feed == text.npos ? text.size() : feed + 1};  // npos + 1 is 0
}

}  // namespace headscope::app
