#pragma once
#include <optional>
#include <span>
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
  int level = 0;                                  ///< of a heading, from 1
  GuideText text = {};                            ///< of a heading, a paragraph or an item of a list
  std::vector<std::string> code = {};             ///< lines of code
  std::vector<std::vector<GuideText>> rows = {};  ///< of a table, by cells; its heading is the first
  bool operator==(const GuideBlock&) const = default;
};

/// A page of the guide.
struct GuidePage {
  std::string name;   ///< name of its file without ".md"
  std::string title;  ///< its first heading; else its name
  std::vector<GuideBlock> blocks;
  bool operator==(const GuidePage&) const = default;
};

/// Parses the Markdown that the guide uses: `#` headings, paragraphs, `- ` items, fenced or indented code,
/// tables; `code`, **strong**, *strong* and [links](target) within lines. Pictures are left out, since the
/// reader of a page has the views themselves.
GuidePage parse_guide_page(std::string_view text, const std::string& name);

/// Without looks and targets.
std::string plain_text(const GuideText& text);

/// The name by which links refer to a heading, as GitHub makes it: "Heads (`heads`)" is "heads-heads".
std::string anchor_of(const GuideText& heading);

/// A heading and what follows it up to the next one.
using GuideSection = std::span<const GuideBlock>;
std::vector<GuideSection> sections_of(const GuidePage& page);

/// Whether a text contains every word of a search, in any order, letters of any case; "what", "does" and
/// their like may be missing: "what does a head output?". False for a search without words.
bool text_has(std::string_view text, std::string_view search);
/// Whether each of the words begins a word of the text, in any order; both are in lower case. A token's word
/// is in quotes, after the sign for its space.
bool has_words(std::string_view text, std::string_view words);
/// How well a section fits a search; less is better. 0: its heading is the search, 1: it has it as a word or
/// words of its own, 2: it contains all words of the search, 3: one text below does, 4: only several texts
/// together do; nothing: not even these.
std::optional<int> section_rank(GuideSection section, std::string_view search);

struct GlossaryEntry {
  std::string term;
  std::vector<std::string> synonyms = {};  ///< and abbreviations
  std::string text = {};                   ///< what it means, in one to three sentences
  std::string formula = {};                ///< empty: none
  std::string view = {};                   ///< name of a view that shows it; empty: none
  bool operator==(const GlossaryEntry&) const = default;
};

/// Definitions of the words that labels use.
using Glossary = std::vector<GlossaryEntry>;

/// The entries of the guide's page, which look like this, of which only the text is required:
///
///     ## KV cache
///
///     Also: cache, cached
///
///     The keys and values of earlier tokens, kept so that ...
///
///         a formula
///
///     View: [cache](views.md#cache-cache)
Glossary glossary_of(const GuidePage& page);

/// The entry with the longest term or synonym in a label: whole words, in any case, singular or plural; null:
/// none. Words in “quotation marks” are the user's own and do not count.
const GlossaryEntry* find_term(const Glossary& glossary, std::string_view label);

}  // namespace headscope::app
