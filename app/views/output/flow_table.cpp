#include "app/views/output/flow_table.h"

#include <algorithm>
#include <cmath>

#include "app/views/output/logit_options.h"
#include "app/views/parts/names.h"

namespace headscope::app::flow_picture {

Table table_of(const ViewContext& c, const LogitFlow& f) {
  Table result;
  result.header = {"kind",       "part",        "layer",    "head",         "from position",
                   "from token", "to position", "to token", "contribution", "share"};
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
  double all = 0;
  for (const double v : f.arrived) all += v;
  if (std::ssize(f.edges) < f.edge_count)
    rows.push_back(
        {"other edges", grouped(f.edge_count - std::ssize(f.edges)) + " edges", -1, -1, -1, -1, all - kept});
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
  source("rounding error", -1, -1, f.rounding_error());
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const Row& row) { return std::abs(row.value); });
  rows.insert(rows.begin(),
              {"logit", "logit of " + logit_words(c, f.token, f.against), -1, -1, -1, f.position, f.logit});
  const auto known = [](int index) { return index >= 0 ? std::optional(index) : std::nullopt; };
  const auto token = [&](int position) {
    return position >= 0 ? c.run->tokens.labels[position] : std::string();
  };
  for (const Row& row : rows)
    add_row(result, row.kind, row.part, known(row.layer), known(row.head), known(row.from), token(row.from),
            known(row.to), token(row.to), row.value, f.logit != 0 ? row.value / f.logit : NAN);
  return result;
}

}  // namespace headscope::app::flow_picture
