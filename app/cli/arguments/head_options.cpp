#include "app/cli/arguments/head_options.h"

#include <algorithm>
#include <limits>

#include "app/cli/arguments/argument_values.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

using model::quote;

constexpr int kMost = std::numeric_limits<int>::max();
constexpr int kMostSequences = 100000;

std::string names_of_figures() {
  std::string names;
  for (std::size_t i = 0; i < kHeadMetrics; ++i)
    names += (i == 0 ? "" : "|") + std::string(words_of(static_cast<HeadMetric>(i)).name);
  return names;
}

HeadMetric figure(const std::string& text) {
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
TokenSelector tokens_meant(const std::string& option, const std::string& text,
                           TokenSelector::Kind counted_back) {
  using Kind = TokenSelector::Kind;
  if (text == "any") return {};
  if (text.empty()) throw WrongUse(option + " takes a token's text, a position as in @3, or any");
  if (!text.starts_with('@')) return {Kind::text, text, 0};
  if (text.starts_with("@@")) return {Kind::text, text.substr(1), 0};
  const int position = whole_number(option + " @", std::string_view(text).substr(1), -kMost, kMost);
  return position < 0 ? TokenSelector{counted_back, "", -position}
                      : TokenSelector{Kind::position, "", position};
}

/// "5.1,5.3", each pair once; `what` says what they are.
std::vector<std::pair<int, int>> pairs(const std::string& option, const char* what, const std::string& text) {
  std::vector<std::pair<int, int>> result;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string_view part = std::string_view(text).substr(start, end - start);
    const std::size_t dot = part.find('.');
    if (dot == std::string_view::npos)
      throw WrongUse(option + " takes " + what + ", as in 5.1,5.3, not " + quote(text));
    const std::pair pair{whole_number(option, part.substr(0, dot), 0, kMost),
                         whole_number(option, part.substr(dot + 1), 0, kMost)};
    if (std::ranges::find(result, pair) == result.end()) result.push_back(pair);
    start = end + 1;
  }
  return result;
}

bool yes_or_no(const std::string& option, const std::string& text) {
  if (text == "yes" || text == "no") return text == "yes";
  throw WrongUse(option + " takes yes or no, not " + quote(text));
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
       [&](const std::string& text) {
         command.search.heads.clear();
         for (const auto& [layer, head] : pairs("--heads", "layers and heads", text))
           command.search.heads.push_back({layer, head});
       }},
      {"shape", "Q.K,...",
       "in place of tokens: heads whose queries give their attention to these\n"
       "cells, as in 2.1,3.2,4.3; X is then the part of it that they give",
       [&](const std::string& text) {
         command.search.shape.clear();
         for (const auto& [query, key] : pairs("--shape", "queries and keys", text))
           command.search.shape.push_back({query, key});
       }},
      {"shape-moves", "yes|no", "they may lie anywhere along the diagonal (default: yes)",
       [&](const std::string& text) { command.search.moves = yes_or_no("--shape-moves", text); }},
      {"top", "N", "the N largest (default: 20)",
       [&](const std::string& text) { command.top = whole_number("--top", text, 1, 1000000); }}};
}

}  // namespace headscope::app
