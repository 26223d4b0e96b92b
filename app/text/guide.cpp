#include "app/text/guide.h"

#include <algorithm>
#include <cctype>

#include "app/ascii.h"
#include "model/files/error.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

using Look = GuideSpan::Look;
using BlockKind = GuideBlock::Kind;

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : lines_(lines_of(text)), file_(file) {}

  GuidePage parse() {
    GuidePage page{system::text_of(system::path_of(file_).stem()), {}, {}};
    while (at_ < lines_.size()) {
      if (auto block = next()) page.blocks.push_back(*std::move(block));
      if (!page.blocks.empty() &&
          (page.blocks.front().kind != BlockKind::heading || page.blocks.front().level != 1))
        fail("\"# title of the page\"");
    }
    if (page.blocks.empty()) fail("\"# title of the page\"");
    page.title = plain_text(page.blocks.front().text);
    return page;
  }

 private:
  std::vector<std::string_view> lines_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::size_t started_ = 0;  // line at which the current block starts

  [[noreturn]] void fail(const std::string& expected) const {
    throw model::LoadError(file_ + ":" + std::to_string(started_ + 1) + ": expected " + expected);
  }

  bool is_indented(std::size_t line) const { return lines_[line].starts_with("    "); }
  /// Whether a line continues the paragraph or the item before it.
  bool continues(std::size_t line) const {
    return line < lines_.size() && !trimmed(lines_[line]).empty() && !lines_[line].starts_with("- ") &&
           !lines_[line].starts_with('#') && !lines_[line].starts_with("```") &&
           !lines_[line].starts_with('|');
  }

  /// The next block; nothing for blank lines and pictures.
  std::optional<GuideBlock> next() {
    started_ = at_;
    const std::string_view line = lines_[at_];
    if (trimmed(line).empty()) return ++at_, std::nullopt;
    GuideBlock block;
    block.line = static_cast<int>(at_) + 1;
    if (line.starts_with("```")) {
      block.kind = BlockKind::code;
      for (++at_; at_ < lines_.size() && !lines_[at_].starts_with("```"); ++at_)
        block.code.emplace_back(lines_[at_]);
      if (at_++ == lines_.size()) fail("``` at the end of the code");
    } else if (is_indented(at_)) {
      block.kind = BlockKind::code;
      for (; at_ < lines_.size() && is_indented(at_); ++at_) block.code.emplace_back(lines_[at_].substr(4));
    } else if (line.starts_with('#')) {
      block.kind = BlockKind::heading;
      block.level = static_cast<int>(std::min(line.find_first_not_of('#'), line.size()));
      block.text = spans(trimmed(line.substr(static_cast<std::size_t>(block.level))));
      ++at_;
      if (block.text.empty()) fail("the words of the heading");
    } else if (line.starts_with('|')) {
      block.kind = BlockKind::table;
      for (; at_ < lines_.size() && lines_[at_].starts_with('|'); ++at_) {
        const bool rule = lines_[at_].find_first_not_of("|-: ") == std::string_view::npos;
        if (!rule || block.rows.size() != 1) block.rows.push_back(cells(lines_[at_]));
      }
    } else {
      const bool item = line.starts_with("- ");
      block.kind = item ? BlockKind::item : BlockKind::paragraph;
      std::string whole(trimmed(line.substr(item ? 2 : 0)));
      for (++at_; continues(at_); ++at_) whole.append(" ").append(trimmed(lines_[at_]));
      block.text = spans(whole);
      if (block.text.empty()) return std::nullopt;  // only a picture
    }
    return block;
  }

  std::vector<GuideText> cells(std::string_view row) const {
    std::vector<GuideText> result;
    row = trimmed(row).substr(1);
    if (row.ends_with('|')) row.remove_suffix(1);
    for (const std::string_view cell : split(row, "|")) result.push_back(spans(trimmed(cell)));
    return result;
  }

  GuideText spans(std::string_view text) const {
    GuideText result;
    const auto add = [&](Look look, std::string_view words, std::string_view target = "") {
      if (words.empty()) return;
      if (look == Look::plain && !result.empty() && result.back().look == Look::plain) {
        result.back().text += words;
      } else {
        result.push_back({look, std::string(words), std::string(target)});
      }
    };
    /// The words up to `mark`, which are taken with it; nothing: there is none.
    const auto up_to = [&](std::string_view mark) -> std::optional<std::string_view> {
      const std::size_t end = text.find(mark);
      if (end == std::string_view::npos) return std::nullopt;
      const std::string_view words = text.substr(0, end);
      text.remove_prefix(end + mark.size());
      return words;
    };
    while (!text.empty()) {
      const bool picture = text.starts_with("![");
      if (text.front() == '`') {
        text.remove_prefix(1);
        const auto code = up_to("`");
        if (!code) fail("` at the end of the code");
        add(Look::code, *code);
      } else if (picture || text.front() == '[') {
        const std::string_view from = text;
        text.remove_prefix(picture ? 2 : 1);
        const auto words = up_to("]");
        const bool linked = words && text.starts_with('(');
        if (linked) text.remove_prefix(1);
        const auto target = linked ? up_to(")") : std::nullopt;
        if (linked && !target) fail(") at the end of the link");
        if (linked && !picture) add(Look::link, *words, *target);
        if (!linked) {  // brackets that mean themselves
          add(Look::plain, from.substr(0, 1));
          text = from.substr(1);
        }
      } else if (const std::size_t stars = text.find_first_not_of('*');
                 stars > 0 && stars <= 2 && text[std::min(stars, text.size() - 1)] != ' ' &&
                 text.find('*', stars) != std::string_view::npos) {
        const std::string_view mark = text.substr(0, stars);
        text.remove_prefix(stars);
        if (const auto words = up_to(mark)) add(Look::strong, *words);
      } else {
        const std::size_t end = std::min(text.find_first_of("`[*!", 1), text.size());
        add(Look::plain, text.substr(0, end));
        text.remove_prefix(end);
      }
    }
    if (!result.empty() && trimmed(plain_text(result)).empty()) result.clear();  // blanks between pictures
    return result;
  }
};

}  // namespace

GuidePage parse_guide_page(std::string_view text, const std::string& file) {
  return Parser(text, file).parse();
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
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || (c & 0x80) != 0)
      anchor += lower(c);
  }
  return anchor;
}

std::vector<GuideSection> sections_of(const GuidePage& page) {
  std::vector<GuideSection> sections;
  for (std::size_t i = 0; i < page.blocks.size(); ++i) {
    if (page.blocks[i].kind == BlockKind::heading) sections.push_back({i, i});
    if (!sections.empty()) sections.back().last = i + 1;
  }
  return sections;
}

bool text_has(std::string_view text, std::string_view search) {
  bool some = false;
  while (!(search = trimmed(search)).empty()) {
    const std::string_view word = search.substr(0, search.find(' '));
    search.remove_prefix(word.size());
    const auto found = std::ranges::search(text, word, {}, lower, lower);
    if (found.empty()) return false;
    some = true;
  }
  return some;
}

/// The texts of a section: of each paragraph, each item, all lines of code, and each row of a table.
static std::vector<std::string> texts_of(const GuidePage& page, const GuideSection& section) {
  std::vector<std::string> texts;
  for (std::size_t i = section.first; i < section.last; ++i) {
    const GuideBlock& block = page.blocks[i];
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

std::optional<int> section_rank(const GuidePage& page, const GuideSection& section, std::string_view search) {
  const std::vector<std::string> texts = texts_of(page, section);
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  if (!text_has(all, search)) return std::nullopt;
  const std::string heading = lowered(plain_text(page.blocks[section.first].text));
  const std::string wanted = lowered(trimmed(search));
  if (heading == wanted) return 0;
  const auto in_word = [&](std::size_t at) {
    return at < heading.size() &&
           (std::isalnum(static_cast<unsigned char>(heading[at])) != 0 || (heading[at] & 0x80) != 0);
  };
  for (std::size_t at = heading.find(wanted); at != heading.npos; at = heading.find(wanted, at + 1))
    if ((at == 0 || !in_word(at - 1)) && !in_word(at + wanted.size())) return 1;
  if (text_has(heading, search)) return 2;
  return std::ranges::any_of(texts, [&](const std::string& text) { return text_has(text, search); }) ? 3 : 4;
}

}  // namespace headscope::app
