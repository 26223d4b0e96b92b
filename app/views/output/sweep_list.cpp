#include "app/views/output/sweep_list.h"

#include <algorithm>

#include "app/views/output/sweep_options.h"
#include "app/views/output/sweep_question.h"
#include "app/views/output/sweep_words.h"
#include "viz/charts/table.h"

namespace headscope::app {

const Option<int> kFirstSwept = first_row_option("first-swept", true);
const ListRows kSweptRows{.role = kSweptRow, .first = kFirstSwept, .names = "MLPs"};

List sweep_list(const ViewContext& c, const SweepOf& question, const Sweep& sweep,
                const std::vector<std::size_t>& cells) {
  const bool neurons = question.over == SweepOver::neurons;
  List list(c, kSweptRows, static_cast<int>(cells.size()));
  const auto cell_of = [&cells](int row) { return cells[static_cast<std::size_t>(row)]; };
  const auto place_of = [&, cell_of](int row) { return question.place_of(sweep, cell_of(row)); };
  list.text(neurons ? "neuron" : "MLP", 9, [&, place_of](int row) {
    const SweepPlace place = place_of(row);
    return part_name(place) + (is_applied(c, question, place) ? "  •" : "");
  });
  const auto has_difference = [&, cell_of, place_of](int row) {
    return sweep.known[cell_of(row)] && question.has_edits(place_of(row));
  };
  const SweepMetric metric = c.options[kSweptMetric];
  list.bar(sweep_scale_title(c), 8,
           [&, cell_of, has_difference](int row) {
             return has_difference(row) ? shown_difference(c, sweep, cell_of(row)) : 0;
           },
           {.digits = 4,
            .scientific = 1e-4,
            .rounds = true,
            .axis = true,
            .most = c.trimmed ? 24 * c.font_size : c.width,
            .is_signed = metric != SweepMetric::divergence,
            .blank = [has_difference](int row) { return !has_difference(row); }});
  list.table.strength = list.last();
  if (sweep.estimates_metric(metric) && (neurons || !c.printed || !is_complete(sweep)))
    list.number("estimate", 5,
                [&, cell_of, place_of](int row) {
                  return question.has_edits(place_of(row)) ? shown_estimate(c, sweep, cell_of(row)) : 0;
                },
                {.color = c.theme->text_muted,
                 .digits = 4,
                 .scientific = 1e-4,
                 .blank = [&question, place_of](int row) { return !question.has_edits(place_of(row)); }});
  if (neurons)
    list.table.row_names = "strongest neurons", list.table.in_order_of_strength = true;
  else if (c.in_pane)  // a figure is not about the selected layer
    list.table.marked = std::min(c.selection.layer, sweep.layers - 1);
  return list;
}

viz::Point sweep_list_size(const ViewContext& c, const SweepOf& question) {
  const viz::Style style = style_of(c);
  const model::Config& config = c.run->run->config;
  viz::Table table;
  table.rows = question.over == SweepOver::mlps
                   ? config.n_layer
                   : static_cast<int>(std::min(std::int64_t{question.neurons},
                                               std::int64_t{config.n_layer} * config.n_inner));
  table.max_rows = c.max_rows;
  return {48 * c.font_size, viz::table_height(table, style) + 9 * c.font_size};
}

}  // namespace headscope::app
