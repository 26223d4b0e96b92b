#include "app/cli/head_options.h"

#include <algorithm>
#include <limits>

#include "app/cli/argument_values.h"
#include "model/quote.h"

namespace headscope::app {
namespace {

using model::quote;

constexpr int kMost = std::numeric_limits<int>::max();
constexpr int kMostSequences = 100000;

std::string names_of_figures() {
  std::string names;
  for (std::size_t i = 0; i < kHeadFigures; ++i)
    names += (i == 0 ? "" : "|") + std::string(words_of(static_cast<HeadFigure>(i)).name);
  return names;
}

HeadFigure figure(const std::string& text) {
  const auto found = head_figure(text);
  if (!found) throw WrongUse("--sort takes " + names_of_figures() + ", not " + quote(text));
  return *found;
}

/// "8,50": sequences, tokens.
void set_repeated(RepeatedTokens& texts, const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos)
    throw WrongUse("--repeated takes how many sequences and of how many tokens, as in 8,50, not " +
                   quote(text));
  texts.sequences = whole_number("--repeated", std::string_view(text).substr(0, comma), 1, kMostSequences);
  texts.length = whole_number("--repeated", std::string_view(text).substr(comma + 1), 1, kMost);
}

/// "any", "@3", "@-1", or a token's text; an @ before a text that begins with one is taken off.
TokenSelector tokens_meant(const std::string& option, const std::string& text, TokenSelector::Kind counted_back) {
  using Kind = TokenSelector::Kind;
  if (text == "any") return {};
  if (text.empty()) throw WrongUse(option + " takes a token's text, a position as in @3, or any");
  if (!text.starts_with('@')) return {Kind::text, text, 0};
  if (text.starts_with("@@")) return {Kind::text, text.substr(1), 0};
  const int position = whole_number(option + " @", std::string_view(text).substr(1), -kMost, kMost);
  return position < 0 ? TokenSelector{counted_back, "", -position} : TokenSelector{Kind::position, "", position};
}

/// "5.1,5.3"
std::vector<model::HeadIndex> heads(const std::string& text) {
  std::vector<model::HeadIndex> result;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string_view part = std::string_view(text).substr(start, end - start);
    const std::size_t dot = part.find('.');
    if (dot == std::string_view::npos)
      throw WrongUse("--heads takes layers and heads, as in 5.1,5.3, not " + quote(text));
    const model::HeadIndex head{whole_number("--heads", part.substr(0, dot), 0, kMost),
                                whole_number("--heads", part.substr(dot + 1), 0, kMost)};
    const auto same = [&](model::HeadIndex h) { return h.layer == head.layer && h.head == head.head; };
    if (std::ranges::none_of(result, same)) result.push_back(head);
    start = end + 1;
  }
  return result;
}

}  // namespace

std::vector<CommandOption> options_of(MetricsCommand& command) {
  return {{"sort", names_of_figures(), "the heads of the largest figure first (default: by layer and head)",
           [&](const std::string& text) { command.sort = figure(text); }},
          {"top", "N", "the first N heads (default: all)",
           [&](const std::string& text) { command.top = whole_number("--top", text, 1, kMost); }},
          {"repeated", "N,L",
           "in place of a prompt: N sequences of L random tokens, each said\n"
           "twice after the start token",
           [&](const std::string& text) {
             if (!command.repeated) command.repeated.emplace();
             set_repeated(*command.repeated, text);
           }},
          {"seed", "S", "of the random tokens (default: 0)",
           [&](const std::string& text) { command.seed = seed_number("--seed", text); }}};
}

std::vector<CommandOption> options_of(SearchCommand& command) {
  using Kind = TokenSelector::Kind;
  return {
      {"from", "TEXT|@N|any",
       "queries: tokens of this text, with or without a space before it;\n"
       "@3: at position 3, @-1: at the last; any (the default)",
       [&](const std::string& text) { command.search.from = tokens_meant("--from", text, Kind::from_end); }},
      {"to", "TEXT|@N|any", "keys: likewise, but @-1 is the token before the query",
       [&](const std::string& text) { command.search.to = tokens_meant("--to", text, Kind::before_query); }},
      {"above", "X", "weights larger than X (default: 0)",
       [&](const std::string& text) { command.search.above = number("--above", text, 0, 1, "from 0 to 1"); }},
      {"heads", "L.H,...", "of these heads alone, as in 5.1,5.3 (default: all)",
       [&](const std::string& text) { command.search.heads = heads(text); }},
      {"top", "N", "the N largest (default: 20)",
       [&](const std::string& text) { command.top = whole_number("--top", text, 1, 1000000); }}};
}

}  // namespace headscope::app
