#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::app {

/// Characters of one look.
struct GuideSpan {
  enum class Look { plain, strong, code, link };
  Look look = Look::plain;
  std::string text;
  std::string target = {};  ///< of a link: "views.md#heads-heads", "#the-file", or an address
  bool operator==(const GuideSpan&) const = default;
};
using GuideText = std::vector<GuideSpan>;

struct GuideBlock {
  enum class Kind { heading, paragraph, item, code, table };
  Kind kind = Kind::paragraph;
  int line = 0;                                   ///< in the file, from 1
  int level = 0;                                  ///< of a heading, from 1
  GuideText text = {};                            ///< of a heading, a paragraph or an item of a list
  std::vector<std::string> code = {};             ///< lines of code
  std::vector<std::vector<GuideText>> rows = {};  ///< of a table, by cells; its heading is the first
  bool operator==(const GuideBlock&) const = default;
};

/// A page of the guide.
struct GuidePage {
  std::string name;   ///< name of its file without ".md"
  std::string title;  ///< its first heading
  std::vector<GuideBlock> blocks;
  bool operator==(const GuidePage&) const = default;
};

/// Parses the Markdown that the guide uses: `#` headings, paragraphs, `- ` items, fenced or indented code,
/// tables; `code`, **strong**, *strong* and [links](target) within lines. Pictures are left out, since the
/// reader of a page has the views themselves. Throws model::LoadError that names `file` and the line for code
/// without an end, a link without a target, and a page that does not begin with its title.
GuidePage parse_guide_page(std::string_view text, const std::string& file);

/// Without looks and targets.
std::string plain_text(const GuideText& text);

/// The name by which links refer to a heading, as GitHub makes it: "Heads (`heads`)" is "heads-heads".
std::string anchor_of(const GuideText& heading);

/// A heading and what follows it up to the next one: indices of the page's blocks, `last` excluded.
struct GuideSection {
  std::size_t first = 0, last = 0;
};
std::vector<GuideSection> sections_of(const GuidePage& page);

/// Whether a text contains every word of a search, in any order, letters of any case. False for a search
/// without words.
bool text_has(std::string_view text, std::string_view search);
/// How well a section fits a search; less is better. 0: its heading is the search, 1: it has it as a word or
/// words of its own, 2: it contains all words of the search, 3: one text below does, 4: only several texts
/// together do; nothing: not even these.
std::optional<int> section_rank(const GuidePage& page, const GuideSection& section, std::string_view search);

}  // namespace headscope::app
