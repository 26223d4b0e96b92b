#include "app/views/parts/selected.h"

#include <algorithm>

#include "app/views/parts/names.h"

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

int own_position(const PromptRun& run, int position) {
  const auto found = std::ranges::find(run.aligned, position);
  return position < 0 || found == run.aligned.end() ? -1 : static_cast<int>(found - run.aligned.begin());
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

std::optional<QueryRows> rows_of_query(Content& it) {
  const ViewContext& c = it.c;
  const auto& [layer, head, query, key] = c.selection;
  SoftmaxRowOf own{layer, head, std::max(0, query)}, other{layer, head, 0};
  if (c.run && it.lacks_counterpart()) return std::nullopt;
  if (!c.run || !c.differs()) {
    const auto row = it.need(own);
    return row ? std::optional(QueryRows{row, nullptr, {}}) : std::nullopt;
  }
  // Rows differ in length if one side lifts the mask, or if the query has another position there.
  other.query = compared_query(c);
  const std::vector<int>& counterparts = aligned_keys(*c.run);
  const int own_end = end_of_keys(*c.run, {layer, head}, query),
            other_end = end_of_keys(*c.run->baseline, {layer, head}, other.query);
  int end = own_end, end_there = other_end;
  for (int at = 0; at < std::ssize(counterparts); ++at) {
    const int there = counterparts[at];
    if (there >= 0 && there < other_end) end = std::max(end, at + 1);
    if (at < own_end) end_there = std::max(end_there, there + 1);
  }
  // Otherwise it is the same question as on the run's own side.
  if (end > own_end) own.min_keys = end;
  if (end_there > other_end) other.min_keys = end_there;
  QueryRows rows{it.need_on(Side::run, own), it.need_on(Side::baseline, other), {}};
  if (!rows.now || !rows.before) return std::nullopt;
  rows.counterparts.assign(counterparts.begin(), counterparts.begin() + std::ssize(rows.now->scores));
  return rows;
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

ViewActions move_key(const ViewContext& c, int by) {
  if (!c.run) return {};
  const int query = c.selection.query;
  int last = key_count(*c.run) - 1;
  while (last > 0 && !may_see(c, query, last)) --last;
  const int from = c.selection.key >= 0 ? c.selection.key + by : by > 0 ? 0 : last;
  int key = std::clamp(from, 0, last);
  while (!may_see(c, query, key)) key += by > 0 ? 1 : -1;
  return {SelectKey{key}};
}

bool may_see(const ViewContext& c, int query, int key) {
  return may_see(*c.run, {c.selection.layer, c.selection.head}, query, key);
}

std::string why_masked(int query, int key) {
  return key > query ? "this key comes after the query" : "an edit masks this key";
}

SelectKey clicked_key(const ViewContext& c, int position) {
  return {position == c.selection.key ? -1 : position};
}

OnGesture arrows(MoveHead down, std::optional<MoveHead> right) {
  return [=](const ViewContext&, const Spot*, const Gesture& gesture) -> std::optional<ViewActions> {
    const auto move = [](const MoveHead& by, int times) {
      return ViewActions{MoveHead{times * by.layers, times * by.heads}};
    };
    if (gesture.modifiers.shift) return std::nullopt;  // a list's
    if (gesture.key == Key::up) return move(down, -1);
    if (gesture.key == Key::down) return move(down, 1);
    if (right && gesture.key == Key::left) return move(*right, -1);
    if (right && gesture.key == Key::right) return move(*right, 1);
    return std::nullopt;
  };
}

ViewActions keys_along_prompt(const ViewContext& c, const Gesture& gesture) {
  if (gesture.kind != Gesture::Kind::key || !c.run) return {};
  const auto step = [&](int by) -> ViewActions {
    if (gesture.modifiers.shift) return move_key(c, by);
    return {MoveQuery{by}};
  };
  if (gesture.key == Key::left) return step(-1);
  if (gesture.key == Key::right) return step(1);
  if (gesture.key == Key::home) return {SelectQuery{0}};
  if (gesture.key == Key::end) return {SelectQuery{-1}};
  return {};
}

}  // namespace headscope::app
