#include "app/views/attention/query_rows.h"

#include "app/views/parts/parts.h"

namespace headscope::app {
namespace {

/// The questions about the run and its baseline.
struct Questions {
  SoftmaxRowOf now;
  SoftmaxRowOf before;
};

/// Rows differ in length if one side lifts the mask, or if the query has another position there.
Questions questions_of(const ViewContext& c) {
  const Selection& s = c.selection;
  Questions questions{{s.layer, s.head, s.query}, {}};
  const int there = compared_query(c);
  if (!c.differs() || there < 0) return questions;
  questions.before = {s.layer, s.head, there};
  const model::HeadIndex head{s.layer, s.head};
  const std::vector<int>& counterparts = aligned_keys(*c.run);
  const int own_end = end_of_keys(*c.run, head, s.query),
            other_end = end_of_keys(*c.run->baseline, head, there);
  int end = own_end, end_there = other_end;
  for (int key = 0; key < std::ssize(counterparts); ++key) {
    const int on_baseline = counterparts[key];
    if (on_baseline >= 0 && on_baseline < other_end) end = std::max(end, key + 1);
    if (key < own_end) end_there = std::max(end_there, on_baseline + 1);
  }
  // Otherwise it is the same question as on the run's own side.
  if (end > own_end) questions.now.least_keys = end;
  if (end_there > other_end) questions.before.least_keys = end_there;
  return questions;
}

}  // namespace

void arrange_keys(List& list, const ViewContext& c, std::span<const float> weights) {
  list.rank_by(weights);
  list.table.marked = c.selection.key, list.table.mark = c.theme->key;
  list.kept = wanted_key(c, c.selection.query, static_cast<int>(weights.size()));
  list.table.first_number = c.options[kStrongestFirst] ? 1 : 0;
  if (!c.options[kStrongestFirst]) return;
  list.order_by([weights](int key) { return std::abs(weights[key]); });
  list.table.row_names = c.differs() ? "keys that differ most" : "strongest keys";
}

std::optional<QueryRows> rows_of_query(Content& it) {
  const ViewContext& c = it.c;
  if (!c.run) {
    // Arrives with the first run.
    static_cast<void>(it.need(SoftmaxRowOf{c.selection.layer, c.selection.head, 0}));
    return std::nullopt;
  }
  if (it.lacks_counterpart()) return std::nullopt;
  const Questions questions = questions_of(c);
  const bool differs = c.differs();
  QueryRows rows{it.need_on(differs ? Side::run : c.side, questions.now), nullptr, {}};
  if (!differs) return rows.now ? std::optional(std::move(rows)) : std::nullopt;
  rows.before = it.need_on(Side::baseline, questions.before);
  if (!rows.now || !rows.before) return std::nullopt;
  const std::vector<int>& counterparts = aligned_keys(*c.run);
  rows.counterparts.assign(counterparts.begin(), counterparts.begin() + std::ssize(rows.now->scores));
  return rows;
}

}  // namespace headscope::app
