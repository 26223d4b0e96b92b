#include "app/views/option_words.h"

#include <cassert>
#include <cmath>

#include "app/views/parts/names.h"

namespace headscope::app {
namespace {

/// A phrase with its place for the value, as in OptionSpec.
struct Phrase {
  std::string_view before, place, after;  ///< place: what stands between the braces
  bool has_place = false;

  std::string with(const std::string& value) const {
    return std::string(before) + value + std::string(after);
  }
};

Phrase phrase_of(std::string_view text) {
  const std::size_t open = text.find('{'), close = text.find('}');
  if (open == text.npos || close == text.npos) return {text, {}, {}};
  return {text.substr(0, open), text.substr(open + 1, close - open - 1), text.substr(close + 1), true};
}

std::string number_words(const Phrase& phrase, int number) {
  if (phrase.place == "+1") return grouped(std::int64_t{number} + 1);
  return phrase.place.empty() ? exact(static_cast<double>(number)) : counted(number, phrase.place);
}

/// "heads L5 H1, L9 H6", or their count if there are many.
std::string list_words(const OptionSpec& option, std::string_view noun, const std::vector<int>& list) {
  constexpr std::size_t kMany = 12;
  if (list.size() > kMany) return counted(std::ssize(list), noun);
  std::string words;
  for (const int number : list) {
    const auto [first, second] = head_of_number(number);
    words += (words.empty() ? "" : ", ") +
             (option.heads   ? head_name(first, second)
              : option.cells ? "(" + std::to_string(first) + ", " + std::to_string(second) + ")"
                             : std::to_string(number));
  }
  return std::string(noun) + (list.size() == 1 ? " " : "s ") + words;
}

/// The rows or columns that are shown: "2–4"; empty: all.
std::string range_words(double first, double count) {
  if (count <= 0) return "";
  const double from = std::floor(first), last = std::max(from, std::ceil(first + count) - 1);
  return plain(from) + (last > from ? "–" + plain(last) : "");
}

/// "queries 2–4, keys 1–3".
std::string zoom_words(std::string_view phrase, const Zoom& zoom) {
  constexpr std::string_view kBetween = ", ";
  const std::size_t comma = phrase.find(kBetween);
  const std::string rows = range_words(zoom.row, zoom.rows), columns = range_words(zoom.col, zoom.cols);
  std::string words;
  if (!rows.empty()) words = phrase_of(phrase.substr(0, comma)).with(rows);
  if (!columns.empty())
    words += (words.empty() ? "" : std::string(kBetween)) +
             phrase_of(phrase.substr(comma + kBetween.size())).with(columns);
  return words;
}

/// "“·it”", "the guess of rank 2"
std::string token_words(const GivenToken& token, const ViewContext& c) {
  if (token.by == GivenToken::By::rank) return "the guess of rank " + std::to_string(token.number);
  return "“" + (token.by == GivenToken::By::id ? label_of(c, token.number) : viz::visible(token.text)) + "”";
}

/// The list of prompts that an option chooses, unless the caption has named it already.
std::string list_of_prompts(const View& view, const OptionSpec& option, const ViewContext& c) {
  if (!c.prompts) return "a list of prompts";
  if (&option != view.over_list && is_over_list(view, c.options)) return "the list";
  return "the prompts of “" + c.prompts->name + "”";  // not how many: some may be skipped
}

}  // namespace

std::string option_words(const View& view, const OptionSpec& option, const ViewContext& c) {
  const OptionValue& value = c.options.value(option);
  if (const auto* zoom = std::get_if<Zoom>(&value)) return zoom_words(option.phrase, *zoom);
  const auto* number = std::get_if<int>(&value);
  const bool is_choice = !option.choices.empty();
  const Phrase phrase =
      phrase_of(is_choice ? option.choices[static_cast<std::size_t>(*number)].phrase : option.phrase);
  if (!phrase.has_place) return phrase.with("");
  if (is_choice || std::holds_alternative<bool>(value)) return phrase.with(list_of_prompts(view, option, c));
  if (const auto* list = std::get_if<std::vector<int>>(&value))
    return phrase.with(list_words(option, phrase.place, *list));
  if (const auto* token = std::get_if<GivenToken>(&value)) return phrase.with(token_words(*token, c));
  return phrase.with(number != nullptr ? number_words(phrase, *number) : exact(std::get<double>(value)));
}

}  // namespace headscope::app
