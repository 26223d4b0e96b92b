#include "app/views/output/flow_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "app/views/parts/measured_facts.h"
#include "app/views/parts/names.h"

namespace headscope::app::flow_picture {

Table table_of(const ViewContext& c, const LogitFlow& f) {
  struct Row {
    std::string kind, part;
    int layer = -1, head = -1, from = -1, to = -1;
    double value = 0;
  };
  std::vector<Row> rows;
  double kept = 0;
  for (const FlowEdge& edge : f.edges) {
    rows.push_back({"edge", "attention", edge.layer, edge.head, edge.key, edge.query, edge.value});
    kept += edge.value;
  }
  const auto source = [&](std::string part, int layer, int position, double value) {
    rows.push_back({"source", std::move(part), layer, -1, position, -1, value});
  };
  for (int position = 0; position < f.positions; ++position) {
    source("token embedding", -1, position, f.token_embedding[position]);
    source("position embedding", -1, position, f.position_embedding[position]);
    for (int layer = 0; layer < f.layers; ++layer) {
      const std::size_t i = f.at(layer, position);
      source("MLP", layer, position, f.mlps[i]);
      source("bias", layer, position, f.key_biases[i] + f.query_biases[i]);
      if (f.edited) source("edits", layer, position, f.input_edits[i] + f.key_edits[i] + f.query_edits[i]);
    }
  }
  source("ln_f bias", -1, f.position, f.final_bias);
  if (f.edited) source("edits after the layers", -1, f.position, f.final_edits);
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const Row& row) { return std::abs(row.value); });
  Table result{"kind",
               "part",
               key_column("layer"),
               key_column("head"),
               key_column("from position"),
               note_column("from token"),
               key_column("to position"),
               note_column("to token"),
               "contribution",
               "share"};
  result.ranked_by = "contribution";
  const auto known = [](int index) { return index >= 0 ? std::optional(index) : std::nullopt; };
  const auto token = [&](int position) {
    return position >= 0 ? c.run->tokens.labels[position] : std::string();
  };
  for (const Row& row : rows)
    add_row(result, row.kind, row.part, known(row.layer), known(row.head), known(row.from), token(row.from),
            known(row.to), token(row.to), row.value, f.logit != 0 ? row.value / f.logit : NAN);
  add_measured(result, c, {f.against == -1 ? "logit" : "difference", f.position, f.token, f.against});
  result.fact("value", f.logit);
  result.fact("rounding error", f.rounding_error());
  result.fact("all edges", f.edge_count);
  result.fact("sum of edges left out", std::accumulate(f.arrived.begin(), f.arrived.end(), 0.0) - kept);
  return result;
}

}  // namespace headscope::app::flow_picture
