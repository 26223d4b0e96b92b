#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/text/guide.h"

namespace headscope::app {

struct GlossaryEntry {
  std::string term;
  std::vector<std::string> synonyms;  ///< and abbreviations
  std::string text;                   ///< what it means, in one to three sentences
  std::string formula;                ///< empty: none
  std::string view;                   ///< name of a view that shows it; empty: none
  bool operator==(const GlossaryEntry&) const = default;
};

/// Definitions of the words that labels use. A value; empty by default.
class Glossary {
 public:
  Glossary() = default;
  /// From the guide's page, whose entries look like this:
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
  ///
  /// Only the text is required. Throws model::LoadError that names `file` and the line of an entry that is
  /// not in this form, and of a term that two entries have.
  Glossary(const GuidePage& page, const std::string& file);

  const std::vector<GlossaryEntry>& entries() const { return entries_; }

  /// A term in a label: bytes [start, end).
  struct Match {
    const GlossaryEntry* entry = nullptr;
    std::size_t start = 0, end = 0;
  };
  /// All terms and synonyms in a label, in order: whole words, in any case, singular or plural. Where terms
  /// overlap the one with more words counts. Words in “quotation marks” are the user's own and do not count.
  std::vector<Match> matches(std::string_view label) const;
  /// The entry for a label: of the match with the most words, then letters; null: none.
  const GlossaryEntry* find(std::string_view label) const;

 private:
  struct Term {
    std::vector<std::string> words;  ///< in lower case, the last one singular
    std::size_t entry = 0;
    int line = 0;  ///< of the entry in the file
  };
  std::vector<GlossaryEntry> entries_;
  std::vector<Term> terms_;  ///< the longest first

  void add_term(const std::string& term, const std::string& file, int line);
};

/// The words of a label that are not in “quotation marks”: runs of letters, digits and underscores, as parts
/// of the label.
std::vector<std::string_view> words_in(std::string_view label);

}  // namespace headscope::app
