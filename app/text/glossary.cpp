#include "app/text/glossary.h"

#include <algorithm>
#include <cctype>

#include "app/ascii.h"
#include "model/files/error.h"

namespace headscope::app {
namespace {

constexpr std::string_view kOpen = "“", kClose = "”";
constexpr std::string_view kAlso = "Also: ", kView = "View: ";

/// Length in bytes of the letter or digit at the beginning of a text, 0 if there is none. Beyond ASCII: Latin
/// and Greek letters, U+00C0 to U+03FF.
std::size_t letter_at(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text.front());
  if (std::isalnum(first) != 0 || first == '_') return 1;
  return first >= 0xC3 && first <= 0xCF && text.size() > 1 && !text.starts_with("×") ? 2 : 0;
}

/// The singular of a regular plural; other words unchanged.
std::string singular(std::string word) {
  const auto ends = [&](std::string_view end) { return word.size() > end.size() + 1 && word.ends_with(end); };
  if (ends("ies")) return word.replace(word.size() - 3, 3, "y");
  if (ends("sses") || ends("xes") || ends("ches")) return word.erase(word.size() - 2);
  const bool is_plural = ends("s") && !word.ends_with("ss") && !word.ends_with("us") && !word.ends_with("is");
  return is_plural ? word.erase(word.size() - 1) : word;
}

}  // namespace

std::vector<std::string_view> words_in(std::string_view label) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < label.size();) {
    std::size_t end = at;
    while (const std::size_t letter = letter_at(label.substr(end))) end += letter;
    if (end > at) words.push_back(label.substr(at, end - at));
    at = std::max(at + 1, end);
    if (!label.substr(end).starts_with(kOpen)) continue;
    const std::size_t close = label.find(kClose, end);
    at = close == std::string_view::npos ? end + kOpen.size() : close + kClose.size();
  }
  return words;
}

Glossary::Glossary(const GuidePage& page, const std::string& file) {
  const auto fail = [&](const GuideBlock& block, const std::string& expected) {
    throw model::LoadError(file + ":" + std::to_string(block.line) + ": expected " + expected);
  };
  for (const GuideSection& section : sections_of(page)) {
    const GuideBlock& heading = page.blocks[section.first];
    if (heading.level != 2) continue;
    GlossaryEntry& entry = entries_.emplace_back();
    entry.term = plain_text(heading.text);
    for (std::size_t i = section.first + 1; i < section.last; ++i) {
      const GuideBlock& block = page.blocks[i];
      const std::string words = plain_text(block.text);
      if (block.kind == GuideBlock::Kind::code && entry.formula.empty() && block.code.size() == 1) {
        entry.formula = block.code.front();
      } else if (words.starts_with(kAlso) && entry.synonyms.empty() && entry.text.empty()) {
        const auto synonyms = split(std::string_view(words).substr(kAlso.size()), ", ");
        entry.synonyms.assign(synonyms.begin(), synonyms.end());
      } else if (words.starts_with(kView) && entry.view.empty() && i + 1 == section.last) {
        entry.view = words.substr(kView.size());
      } else if (block.kind == GuideBlock::Kind::paragraph && entry.text.empty()) {
        entry.text = words;
      } else {
        fail(block, "a term's synonyms, definition, one line of formula and view, in this order");
      }
    }
    if (entry.text.empty()) fail(heading, "a definition below the term");
    add_term(entry.term, file, heading.line);
    for (const std::string& synonym : entry.synonyms) add_term(synonym, file, heading.line);
  }
  std::ranges::stable_sort(terms_, std::ranges::greater(), [](const Term& term) {
    std::size_t letters = 0;
    for (const std::string& word : term.words) letters += word.size();
    return std::pair(term.words.size(), letters);
  });
}

void Glossary::add_term(const std::string& term, const std::string& file, int line) {
  Term added;
  for (const std::string_view word : words_in(term)) added.words.push_back(lowered(word));
  const std::string where = file + ":" + std::to_string(line);
  if (added.words.empty()) throw model::LoadError(where + ": expected a term with letters");
  added.words.back() = singular(std::move(added.words.back()));
  added.entry = entries_.size() - 1;
  added.line = line;
  const auto known = std::ranges::find(terms_, added.words, &Term::words);
  if (known != terms_.end() && known->entry != added.entry)
    throw model::LoadError(where + ": expected each term once, but the entry in line " +
                           std::to_string(known->line) + " has one of these, too");
  if (known != terms_.end()) return;
  terms_.push_back(std::move(added));
}

std::vector<Glossary::Match> Glossary::matches(std::string_view label) const {
  const std::vector<std::string_view> words = words_in(label);
  std::vector<std::string> folded;
  for (const std::string_view word : words) folded.push_back(lowered(word));
  std::vector<bool> taken(words.size());
  std::vector<Match> found;
  for (const Term& term : terms_) {
    const std::size_t count = term.words.size();
    for (std::size_t at = 0; at + count <= words.size(); ++at) {
      bool same = true;
      for (std::size_t i = 0; i < count && same; ++i) {
        const std::string& word = folded[at + i];
        same =
            !taken[at + i] && (word == term.words[i] || (i + 1 == count && singular(word) == term.words[i]));
      }
      if (!same) continue;
      std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(at), count, true);
      const std::string_view last = words[at + count - 1];
      found.push_back({&entries_[term.entry], static_cast<std::size_t>(words[at].data() - label.data()),
                       static_cast<std::size_t>(last.data() + last.size() - label.data())});
    }
  }
  std::ranges::sort(found, {}, &Match::start);
  return found;
}

const GlossaryEntry* Glossary::find(std::string_view label) const {
  const std::vector<Match> found = matches(label);
  const auto size = [&](const Match& match) {
    const std::string_view term = label.substr(match.start, match.end - match.start);
    return std::pair(words_in(term).size(), term.size());
  };
  const auto largest = std::ranges::max_element(found, {}, size);
  return largest == found.end() ? nullptr : largest->entry;
}

}  // namespace headscope::app
