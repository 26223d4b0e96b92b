#include "app/views/parts/selected.h"

#include <algorithm>

#include "app/run/analyses/patterns.h"
#include "app/views/parts/names.h"
#include "model/pass/statistics.h"

namespace headscope::app {

std::shared_ptr<const Pattern> current_pattern(const ViewContext& c) {
  return c.ask(PatternOf{c.selection.layer, c.selection.head});
}

std::shared_ptr<const NextToken> current_next(const ViewContext& c) {
  return c.ask(NextAfter{c.chosen_query});
}

int compared_query(const ViewContext& c) {
  return c.compared() ? c.run->aligned[c.selection.query] : -1;
}

Selection in_baseline(Selection selection, const PromptRun& run) {
  const auto there = [](const std::vector<int>& aligned, int position) {
    return position < 0 ? -1 : aligned[position];
  };
  selection.query = there(run.aligned, selection.query);
  selection.key = there(aligned_keys(run), selection.key);
  return selection;
}

namespace {

/// A guess, by its id in comparisons. `token`: the one that it is compared with.
std::optional<TokenRef> resolved(const ViewContext& c, const TokenRef& guess, const TokenRef& token = {}) {
  const PromptRun* run = c.asked ? c.asked.get() : c.run.get();
  if (run == nullptr || run->baseline == nullptr) return guess;
  const bool two = compares_different_inputs(*run);
  if (two && c.side == Side::run) return guess;
  int position = c.selection.query;
  if (two && c.side == Side::baseline) {
    const auto stands = std::ranges::find(run->aligned, position);
    if (stands == run->aligned.end()) return guess;
    position = static_cast<int>(stands - run->aligned.begin());
  }
  const auto next = c.ask_on(two ? Side::run : Side::baseline, NextAfter{position});
  if (!next) return std::nullopt;
  return by_id(guess, next->logits, token);
}

}  // namespace

std::optional<TokenRef> guess_of_rank(const ViewContext& c, int rank) {
  return resolved(c, TokenRef::best(rank));
}

std::optional<TokenRef> guess_other_than(const ViewContext& c, const TokenRef& token) {
  return resolved(c, TokenRef::other(), token);
}

std::shared_ptr<const NextToken> compared_next(const ViewContext& c) {
  const int position = compared_query(c);
  if (position < 0) return nullptr;
  // Asks about "the last position": that answer exists for the run of a longer prompt, too.
  const bool end = c.chosen_query < 0 && position + 1 == c.run->baseline->run->length();
  return c.ask_on(Side::baseline, NextAfter{end ? -1 : position});
}

std::span<const float> weights_of_query(const ViewContext& c, const Pattern* pattern) {
  if (!pattern) return {};
  const auto keys = static_cast<std::size_t>(pattern->keys()),
             query = static_cast<std::size_t>(c.selection.query);
  return std::span(pattern->values)
      .subspan(query * keys, static_cast<std::size_t>(pattern->masked.end_of(c.selection.query)));
}

int strongest_key(const ViewContext& c) {
  const auto pattern = current_pattern(c);
  const auto weights = weights_of_query(c, pattern.get());
  if (weights.empty()) return -1;
  return static_cast<int>(std::ranges::max_element(weights) - weights.begin());
}

int attended_key(const ViewContext& c) {
  return c.selection.key >= 0 ? c.selection.key : strongest_key(c);
}

void add_head_facts(Table& table, const ViewContext& c) {
  table.about("layer", c.selection.layer);
  table.about("head", c.selection.head);
}

void add_token_facts(Table& table, const PromptTokens& tokens, const std::string& name, int position) {
  table.about(name, position);
  table.fact(name + " token", tokens.labels[position]);
}

void add_query_facts(Table& table, const ViewContext& c) {
  add_token_facts(table, c.run->tokens, "query", c.selection.query);
}

void add_token(Table& table, const ViewContext& c, const std::string& name, int id) {
  table.fact(name, label_of(c, id));
  table.about(name + " id", id);
}

void add_measured(Table& table, const ViewContext& c, const Measured& measured) {
  const auto& [metric, token, other, position] = measured;
  const int tokens = token_count(metric);
  table.fact("metric", name_of(kMetrics, metric));
  if (position >= 0) add_token_facts(table, c.run->tokens, "position", position);
  if (tokens > 0) add_token(table, c, "token", token.id());
  if (tokens > 1 && other == TokenRef::mean()) table.fact("other token", "mean");
  if (tokens > 1 && other.id() >= 0) add_token(table, c, "other token", other.id());
}

}  // namespace headscope::app
