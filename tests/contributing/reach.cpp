#include <algorithm>
#include <vector>

#include "app/run/analyses/patterns.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/names.h"
#include "app/views/parts/selected.h"
#include "app/views/view.h"
#include "viz/charts/bars.h"

namespace headscope::app {
namespace reach {

/// The mean distance in tokens that a head attends back, for each query.
struct Reach {
  std::vector<double> tokens;  ///< [T]
  std::size_t bytes() const { return tokens.size() * sizeof(double); }
};

struct ReachOf {
  static constexpr std::string_view kName = "reach of a head";
  static constexpr bool kQuick = true;
  int layer = 0;
  int head = 0;
  bool operator==(const ReachOf&) const = default;

  Reach compute(const PromptRun& run, const Computation<Reach>& computation) const {
    const Pattern pattern =
        PatternOf{layer, head}.compute(run, {computation.workspace, computation.stop, {}, {}, {}});
    Reach reach;
    for (int query = 0; query < pattern.length; ++query) {
      double tokens = 0;
      for (int key = 0; key <= query; ++key)
        tokens += (query - key) * double{pattern.matrix().at(query, key)};
      reach.tokens.push_back(tokens);
    }
    return reach;
  }
};

Picture build(const ViewContext& context) {
  const ReachOf question{context.selection.layer, context.selection.head};
  const auto reach = context.ask(question);
  if (auto picture = waiting(context, question, reach != nullptr)) return *picture;

  viz::BarChart chart;
  chart.number_title = "tokens back";
  chart.longest = viz::round_limit(*std::ranges::max_element(reach->tokens));
  for (std::size_t i = 0; i < reach->tokens.size(); ++i) {
    const int position = static_cast<int>(i);
    viz::Bar bar;
    bar.label = token_name(context.run->tokens, position);
    bar.value = reach->tokens[i];
    bar.number = plain(bar.value);
    bar.color = context.theme->query;
    bar.label_color = context.theme->text;
    bar.marked = position == context.selection.query;
    bar.id = position;
    chart.bars.push_back(bar);
  }
  Picture picture = blank(context);
  const viz::Rect area =
      paint_title(picture, context, "How far back", head_name(question.layer, question.head));
  viz::paint_bar_chart(picture, chart, area, style_of(context));
  return picture;
}

Table table(const ViewContext& context) {
  const auto reach = context.ask(ReachOf{context.selection.layer, context.selection.head});
  if (!reach) return {};
  Table result{key_column("query"), note_column("query token"), Column("tokens back", "tokens")};
  for (std::size_t i = 0; i < reach->tokens.size(); ++i)
    add_row(result, i, context.run->tokens.labels[i], reach->tokens[i]);
  add_head_facts(result, context);
  return result;
}

}  // namespace reach

View reach_view() {
  using namespace reach;
  View view;
  view.id = "reach";
  view.title = "Reach";
  view.help = "how many tokens back the chosen head looks on average, from each query";
  view.group = Group::attention;
  view.build = build;
  view.table = table;
  view.caption = {.prompt = true, .head = true};
  return view;
}

}  // namespace headscope::app
