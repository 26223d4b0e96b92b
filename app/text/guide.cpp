#include "app/text/guide.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <utility>

#include "app/ascii.h"

namespace headscope::app {
namespace {

using Look = GuideSpan::Look;
using BlockKind = GuideBlock::Kind;

/// Length in bytes of the letter or digit at the beginning of a text, 0 if there is none. Beyond ASCII: Latin
/// and Greek letters, U+00C0 to U+03FF.
std::size_t letter_at(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text.front());
  if (std::isalnum(first) != 0 || first == '_') return 1;
  return first >= 0xC3 && first <= 0xCF && text.size() > 1 && !text.starts_with("×") ? 2 : 0;
}

/// Whether a byte is of a letter or digit, as all beyond ASCII are taken to be.
bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0;
}

/// The singular of a regular plural; other words unchanged.
std::string singular(std::string word) {
  const auto ends = [&](std::string_view end) { return word.size() > end.size() + 1 && word.ends_with(end); };
  if (ends("ies")) return word.replace(word.size() - 3, 3, "y");
  if (ends("sses") || ends("xes") || ends("ches")) return word.erase(word.size() - 2);
  const bool is_plural = ends("s") && !word.ends_with("ss") && !word.ends_with("us") && !word.ends_with("is");
  return is_plural ? word.erase(word.size() - 1) : word;
}

/// The words of a label that are not in “quotation marks”, runs of letters, digits and underscores: in lower
/// case and singular.
std::vector<std::string> words_in(std::string_view label) {
  constexpr std::string_view kOpen = "“", kClose = "”";
  std::vector<std::string> words;
  while (!label.empty()) {
    std::size_t end = 0;
    while (const std::size_t letter = letter_at(label.substr(end))) end += letter;
    if (end > 0) words.push_back(singular(lowered(label.substr(0, end))));
    if (end == 0 && label.starts_with(kOpen)) end = std::min(label.find(kClose), label.size());
    label.remove_prefix(std::max<std::size_t>(end, 1));
  }
  return words;
}

GuideText spans(std::string_view text) {
  struct Mark {
    std::string_view open, close;
    Look look;
  };
  static constexpr Mark kMarks[] = {{"`", "`", Look::code},
                                    {"**", "**", Look::strong},
                                    {"*", "*", Look::strong},
                                    {"![", "](", Look::plain},  // a picture
                                    {"[", "](", Look::link}};
  GuideText result;
  std::string words;  // without a mark
  const auto add_words = [&] {
    if (!words.empty()) result.push_back({Look::plain, std::exchange(words, "")});
  };
  /// Takes what is marked; false: the mark means itself.
  const auto take = [&](const Mark& mark) {
    const std::size_t start = mark.open.size(), end = text.find(mark.close, start);
    if (!text.starts_with(mark.open) || end == text.npos) return false;
    GuideSpan span{mark.look, std::string(text.substr(start, end - start))};
    std::size_t after = end + mark.close.size();
    if (mark.close == "](") {
      const std::size_t close = text.find(')', after);
      if (close == text.npos || span.text.find(']') != span.text.npos) return false;
      span.target = text.substr(after, close - after);
      after = close + 1;
    } else if (span.text.empty() || (mark.look == Look::strong && span.text.front() == ' ')) {
      return false;
    }
    text.remove_prefix(after);
    if (mark.look == Look::plain) return true;
    add_words();
    result.push_back(std::move(span));
    return true;
  };
  while (!text.empty()) {
    if (std::ranges::any_of(kMarks, take)) continue;
    words += text.front();
    text.remove_prefix(1);
  }
  if (!trimmed(words).empty() || !result.empty()) add_words();  // not blanks between pictures
  return result;
}

std::vector<GuideText> cells(std::string_view row) {
  std::vector<GuideText> result;
  row = trimmed(row).substr(1);
  if (row.ends_with('|')) row.remove_suffix(1);
  for (const std::string_view cell : split(row, "|")) result.push_back(spans(trimmed(cell)));
  return result;
}

bool is_indented(std::string_view line) {
  return line.starts_with("    ");
}

/// Whether a line continues the paragraph or the item before it.
bool continues(std::string_view line) {
  return !trimmed(line).empty() && !line.starts_with("- ") && !line.starts_with('#') &&
         !line.starts_with("```") && !line.starts_with('|');
}

/// Takes the next block from the lines; without text, code and rows for blank lines and pictures.
GuideBlock next_block(std::span<const std::string_view>& lines) {
  GuideBlock block;
  const auto take = [&] {
    const std::string_view line = lines.front();
    lines = lines.subspan(1);
    return line;
  };
  const std::string_view line = lines.front();
  if (line.starts_with("```")) {
    block.kind = BlockKind::code;
    for (take(); !lines.empty() && !lines.front().starts_with("```");) block.code.emplace_back(take());
    if (!lines.empty()) take();
  } else if (is_indented(line)) {
    block.kind = BlockKind::code;
    while (!lines.empty() && is_indented(lines.front())) block.code.emplace_back(take().substr(4));
  } else if (line.starts_with('#')) {
    block.kind = BlockKind::heading;
    const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
    block.level = static_cast<int>(level);
    block.text = spans(trimmed(take().substr(level)));
  } else if (line.starts_with('|')) {
    block.kind = BlockKind::table;
    while (!lines.empty() && lines.front().starts_with('|')) {
      const std::string_view row = take();
      const bool rule = row.find_first_not_of("|-: ") == row.npos;
      if (!rule || block.rows.size() != 1) block.rows.push_back(cells(row));
    }
  } else {
    const bool item = line.starts_with("- ");
    block.kind = item ? BlockKind::item : BlockKind::paragraph;
    std::string whole(trimmed(take().substr(item ? 2 : 0)));
    while (!whole.empty() && !lines.empty() && continues(lines.front()))
      whole.append(" ").append(trimmed(take()));
    block.text = spans(whole);
  }
  return block;
}

}  // namespace

GuidePage parse_guide_page(std::string_view text, const std::string& name) {
  GuidePage page{name, name, {}};
  const std::vector<std::string_view> all = lines_of(text);
  for (std::span<const std::string_view> lines = all; !lines.empty();) {
    GuideBlock block = next_block(lines);
    if (!block.text.empty() || !block.code.empty() || !block.rows.empty())
      page.blocks.push_back(std::move(block));
  }
  if (!page.blocks.empty()) page.title = plain_text(page.blocks.front().text);
  return page;
}

std::string plain_text(const GuideText& text) {
  std::string words;
  for (const GuideSpan& span : text) words += span.text;
  return words;
}

std::string anchor_of(const GuideText& heading) {
  std::string anchor;
  for (const char c : plain_text(heading)) {
    if (c == ' ') anchor += '-';
    if (is_of_word(c) || c == '-' || c == '_') anchor += lower(c);
  }
  return anchor;
}

std::vector<GuideSection> sections_of(const GuidePage& page) {
  std::vector<GuideSection> sections;
  for (auto at = page.blocks.begin(); at != page.blocks.end();) {
    const auto next = std::ranges::find(at + 1, page.blocks.end(), BlockKind::heading, &GuideBlock::kind);
    if (at->kind == BlockKind::heading) sections.emplace_back(at, next);
    at = next;
  }
  return sections;
}

bool text_has(std::string_view text, std::string_view search) {
  constexpr std::array<std::string_view, 6> kQuestion{"what", "how", "why", "which", "does", "do"};
  std::vector<std::string_view> words = split(search, " ");
  for (std::string_view& word : words) word = trimmed(word, "?");
  std::erase(words, "");
  const auto asks = [&](std::string_view word) { return std::ranges::count(kQuestion, lowered(word)) > 0; };
  if (!std::ranges::all_of(words, asks)) std::erase_if(words, asks);
  return !words.empty() && std::ranges::all_of(words, [&](std::string_view word) {
    return !std::ranges::search(text, word, {}, lower, lower).empty();
  });
}

bool has_words(std::string_view text, std::string_view words) {
  return std::ranges::all_of(split(words, " "), [&](std::string_view word) {
    for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; ++at) {
      const std::string_view before = text.substr(0, at);
      if (at == 0 || !is_of_word(before.back()) || before.ends_with("·") || before.ends_with("“"))
        return true;
    }
    return false;
  });
}

/// The texts of a section: of each paragraph, each item, all lines of code, and each row of a table.
static std::vector<std::string> texts_of(GuideSection section) {
  std::vector<std::string> texts;
  for (const GuideBlock& block : section) {
    std::string text = plain_text(block.text);
    for (const std::string& line : block.code) text += line + "\n";
    texts.push_back(std::move(text));
    for (const auto& row : block.rows) {
      std::string& cells = texts.emplace_back();
      for (const GuideText& cell : row) cells += plain_text(cell) + "\n";
    }
  }
  return texts;
}

std::optional<int> section_rank(GuideSection section, std::string_view search) {
  const std::vector<std::string> texts = texts_of(section);
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  if (!text_has(all, search)) return std::nullopt;
  const std::string heading = lowered(plain_text(section.front().text));
  const std::string wanted = lowered(trimmed(search));
  if (heading == wanted) return 0;
  const std::vector<std::string> words = words_in(heading), wanted_words = words_in(wanted);
  if (!std::ranges::search(words, wanted_words).empty()) return 1;
  if (text_has(heading, search)) return 2;
  return std::ranges::any_of(texts, [&](const std::string& text) { return text_has(text, search); }) ? 3 : 4;
}

Glossary glossary_of(const GuidePage& page) {
  constexpr std::string_view kAlso = "Also: ", kView = "View: ";
  Glossary glossary;
  for (const GuideBlock& block : page.blocks) {
    const std::string words = plain_text(block.text);
    if (block.kind == GuideBlock::Kind::heading && block.level == 2)
      glossary.push_back({.term = words});
    else if (glossary.empty())
      continue;
    else if (block.kind == GuideBlock::Kind::code)
      glossary.back().formula = block.code.front();
    else if (words.starts_with(kAlso))
      for (const std::string_view synonym : split(std::string_view(words).substr(kAlso.size()), ", "))
        glossary.back().synonyms.emplace_back(synonym);
    else if (words.starts_with(kView))
      glossary.back().view = words.substr(kView.size());
    else
      glossary.back().text = words;
  }
  return glossary;
}

const GlossaryEntry* find_term(const Glossary& glossary, std::string_view label) {
  const std::vector<std::string> words = words_in(label);
  const GlossaryEntry* best = nullptr;
  std::pair<std::size_t, std::size_t> longest;
  const auto look = [&](const GlossaryEntry& entry, const std::string& term) {
    const std::vector<std::string> wanted = words_in(term);
    const std::pair length(wanted.size(), term.size());
    if (length > longest && !std::ranges::search(words, wanted).empty()) best = &entry, longest = length;
  };
  for (const GlossaryEntry& entry : glossary) {
    look(entry, entry.term);
    for (const std::string& synonym : entry.synonyms) look(entry, synonym);
  }
  return best;
}

}  // namespace headscope::app
