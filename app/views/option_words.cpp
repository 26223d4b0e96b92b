#include "app/views/option_words.h"

#include <algorithm>
#include <cmath>

#include "app/views/parts/names.h"

namespace headscope::app {
namespace {

/// A label inside a sentence: "Cells" becomes "cells", "MLP" stays.
std::string inside_sentence(std::string_view label) {
  const auto is_between = [](char c, char low, char high) { return low <= c && c <= high; };
  std::string text(label);
  if (text.size() > 1 && is_between(text[0], 'A', 'Z') && is_between(text[1], 'a', 'z'))
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

std::string list_words(const OptionSpec& option, const std::vector<int>& list) {
  std::string words;
  for (const int number : list) {
    const auto [first, second] = head_of_number(number);
    words += (words.empty() ? "" : ", ") +
             (option.heads   ? head_name(first, second)
              : option.cells ? "(" + std::to_string(first) + ", " + std::to_string(second) + ")"
                             : std::to_string(number));
  }
  return words;
}

/// "rows 2–4, columns 1–3".
std::string zoom_words(const Zoom& zoom) {
  std::string words;
  const auto add = [&](const char* what, double first, double count) {
    if (count <= 0) return;
    const double from = std::floor(first), last = std::max(from, std::ceil(first + count) - 1);
    words += (words.empty() ? "" : ", ") + std::string(what) + " " + plain(from) + "–" + plain(last);
  };
  add("rows", zoom.row, zoom.rows);
  add("columns", zoom.col, zoom.cols);
  return words;
}

std::string value_words(const OptionSpec& option, const OptionValue& value) {
  if (const auto* list = std::get_if<std::vector<int>>(&value)) return list_words(option, *list);
  if (!option.choices.empty())
    return inside_sentence(option.choices[static_cast<std::size_t>(std::get<int>(value))].label);
  return to_text(option, value);
}

/// "“·it”", "the guess of rank 2".
std::string token_words(const View& view, const OptionSpec& option, const ViewContext& c) {
  const int number = std::get<int>(c.options.value(option));
  if (&option == view.tokens.id || &option == view.tokens.other_id) return "“" + label_of(c, number) + "”";
  return "the guess of rank " + std::to_string(number);
}

}  // namespace

std::string option_words(const View& view, const OptionSpec& option, const ViewContext& c) {
  const OptionValue& value = c.options.value(option);
  const TokenOptions& tokens = view.tokens;
  if (tokens.has(&option)) {
    const bool other = &option == tokens.other_rank || &option == tokens.other_id;
    return (other ? "minus " : "token: ") + token_words(view, option, c);
  }
  if (const Zoom* zoom = std::get_if<Zoom>(&value)) return zoom_words(*zoom);
  const std::string label = inside_sentence(option.label);
  if (const bool* on = std::get_if<bool>(&value)) return (*on ? "" : "without ") + label;
  constexpr std::string_view kFirst = "first ";
  if (option.choices.empty() && label.starts_with(kFirst))  // where a list begins
    return "from " + label.substr(kFirst.size()) + " " + value_words(option, value) + " on";
  return label + (option.choices.empty() ? " " : ": ") + value_words(option, value);
}

}  // namespace headscope::app
