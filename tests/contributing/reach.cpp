#include "app/run/analyses/patterns.h"
#include "app/views/parts/parts.h"

namespace headscope::app::reach {

/// The mean distance in tokens that a head attends back, for each query.
struct Reach {
  std::vector<double> tokens;  ///< [T]; NaN: the query has no counterpart in the baseline
  std::size_t bytes() const { return tokens.size() * sizeof(double); }
  Reach minus(const Reach& before, const PromptRun& run) const {
    Reach difference{tokens};
    for (std::size_t i = 0; i < tokens.size(); ++i)
      difference.tokens[i] -= run.aligned[i] < 0 ? no_number() : before.tokens[run.aligned[i]];
    return difference;
  }
};

struct ReachOf {
  static constexpr std::string_view kName = "reach of a head";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  bool operator==(const ReachOf&) const = default;

  Reach compute(const PromptRun& run, const Computation<Reach>& computation) const {
    const Pattern pattern = PatternOf{layer, head}.compute(run, {computation});
    Reach reach{std::vector<double>(static_cast<std::size_t>(pattern.length))};
    for (int query = 0; query < pattern.length; ++query)
      for (int key = 0; key <= query; ++key)
        reach.tokens[query] += (query - key) * double{pattern.matrix().at(query, key)};
    return reach;
  }
};

const ListRows kRows{0, first_row_option("first-reach", true), "queries"};

void declare(Content& it) {
  const auto answer = it.need(ReachOf{it.c.selection.layer, it.c.selection.head});
  if (!answer) return;
  const Reach& reach = *it.keep(answer);
  it.title = "Reach of " + head_title(it.c, it.c.selection.layer, it.c.selection.head) + ", tokens back";
  auto list = std::make_unique<List>(it.c, kRows, static_cast<int>(reach.tokens.size()));
  list->refers_to = [](int query) { return Ref{.query = query}; };
  list->number("", 2, [](int query) { return query; }, {.file = key_column("query"), .digits = 0});
  list->text("query", 3, it.c.run->tokens.labels, {.file = note_column("query token")});
  list->bar("tokens back", 4, reach.tokens, {.file = Column("tokens back", "tokens")});
  it.table = [&it, &rows = *list] {
    Table table = rows.exported();
    add_head_facts(table, it.c);
    return table;
  };
  it.body = std::move(list);
}

View view() {
  View view = make_view("reach", "Reach", declare,
                        "how many tokens back the chosen head looks on average, from each query");
  view.options = {&kRows.first};
  view.caption = {.head = true, .query = false};
  return view;
}

}  // namespace headscope::app::reach
