#include "app/views/attention/query_rows.h"

#include "app/views/parts/parts.h"

namespace headscope::app {

void arrange_keys(List& list, const ViewContext& c, std::span<const float> weights) {
  list.rank_by(weights);
  list.table.marked = c.selection.key, list.table.mark = c.theme->key;
  list.kept = std::min(c.selection.key, static_cast<int>(weights.size()) - 1);
  list.table.first_number = c.options[kStrongestFirst] ? 1 : 0;
  if (!c.options[kStrongestFirst]) return;
  list.order_by([weights](int key) { return std::abs(weights[key]); });
  list.table.row_names = c.differs() ? "keys that differ most" : "strongest keys";
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

}  // namespace headscope::app
