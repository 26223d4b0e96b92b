#include "app/views/output/flow_graph.h"

#include <numeric>
#include <set>

#include "app/views/parts/parts.h"

namespace headscope::app::flow_picture {

namespace {

TokenColumn column_at(const LogitFlow& flow, int position) {
  TokenColumn column;
  column.position = position;
  const auto pos = static_cast<std::size_t>(position);
  column.embedding = flow.token_embedding[pos] + flow.position_embedding[pos] + flow.input_edits[pos];
  for (int layer = 0; layer <= flow.layers; ++layer)
    column.stream.push_back(flow.stream[flow.at(layer, position)]);
  for (int layer = 0; layer < flow.layers; ++layer) {
    const std::size_t i = flow.at(layer, position);
    column.mlps.push_back(flow.mlps[i]);
    // Drawn edges are taken out of these below.
    const double next_edits = layer + 1 < flow.layers ? flow.input_edits[flow.at(layer + 1, position)] : 0;
    column.rest.push_back(flow.arrived[i] - flow.sent[i] + flow.key_biases[i] + flow.query_biases[i] +
                          flow.key_edits[i] + flow.query_edits[i] + next_edits);
  }
  column.mlp = std::accumulate(column.mlps.begin(), column.mlps.end(), 0.0);
  column.rest.push_back(position == flow.measured.position ? flow.final_bias + flow.final_edits : 0);
  column.sent.resize(flow.layers);
  column.arrived.resize(flow.layers);
  return column;
}

}  // namespace

int Graph::column_of(int position) const {
  const auto found = std::ranges::find(columns, position, &TokenColumn::position);
  return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
}

std::vector<FlowEdge> leading_edges(const LogitFlow& flow, int most) {
  std::vector<FlowEdge> drawn, others = flow.edges;
  std::vector<int> leaves_in(flow.positions, -1);  // the last layer in which a drawn edge leaves a position
  leaves_in[flow.measured.position] = flow.layers;
  while (std::ssize(drawn) < most) {
    const auto next = std::ranges::find_if(
        others, [&](const FlowEdge& edge) { return leaves_in[edge.query] > edge.layer; });
    if (next == others.end()) break;
    leaves_in[next->key] = std::max(leaves_in[next->key], next->layer);
    drawn.push_back(*next);
    others.erase(next);
  }
  return drawn;
}

Graph graph_with(const LogitFlow& flow, std::vector<FlowEdge> edges) {
  Graph graph;
  graph.layers = flow.layers;
  graph.target = flow.measured.position;
  graph.logit = flow.logit;
  graph.edges = std::move(edges);
  std::ranges::stable_sort(graph.edges, std::ranges::greater(),
                           [](const FlowEdge& edge) { return std::abs(edge.value); });
  std::set<int> positions{flow.measured.position};
  for (const FlowEdge& edge : graph.edges) positions.insert({edge.query, edge.key});
  for (const int position : positions) graph.columns.push_back(column_at(flow, position));
  for (const FlowEdge& edge : graph.edges) {
    TokenColumn& query = graph.columns[graph.column_of(edge.query)];
    TokenColumn& key = graph.columns[graph.column_of(edge.key)];
    query.arrived[edge.layer] += edge.value;
    query.rest[edge.layer] -= edge.value;
    key.sent[edge.layer] += edge.value;
    key.rest[edge.layer] += edge.value;
    graph.magnitude += std::abs(edge.value);
  }
  for (const TokenColumn& column : graph.columns)
    graph.rest = std::accumulate(column.rest.begin(), column.rest.end(), graph.rest);
  return graph;
}

std::string signed_words(double value) {
  return (value >= 0 ? "+" : "") + viz::fixed_number(value, 2);
}

Table table_of(const ViewContext& c, const LogitFlow& f) {
  std::vector<std::pair<double, TableRow>> rows;
  const auto add = [&](const char* kind, const std::string& part, int layer, int head, int from, int to,
                       double value) {
    const auto token = [&](int position) {
      return position >= 0 ? c.run->tokens.labels[position] : std::string();
    };
    add_cells(rows.emplace_back(value, TableRow()).second, kind, part, index_cell(layer), index_cell(head),
              index_cell(from), token(from), index_cell(to), token(to), value,
              f.logit != 0 ? value / f.logit : NAN);
  };
  double kept = 0;
  for (const FlowEdge& edge : f.edges) {
    add("edge", "attention", edge.layer, edge.head, edge.key, edge.query, edge.value);
    kept += edge.value;
  }
  const auto source = [&](const char* part, int layer, int position, double value) {
    add("source", part, layer, -1, position, -1, value);
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
  source("ln_f bias", -1, f.measured.position, f.final_bias);
  if (f.edited) source("edits after the layers", -1, f.measured.position, f.final_edits);
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const auto& row) { return std::abs(row.first); });
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
  for (auto& [value, row] : rows) result.add(std::move(row));
  add_measured(result, c, f.measured);
  result.fact("value", f.logit);
  result.fact("rounding error", f.rounding_error());
  result.fact("all edges", f.edge_count);
  result.fact("sum of edges left out", std::accumulate(f.arrived.begin(), f.arrived.end(), 0.0) - kept);
  return result;
}

}  // namespace headscope::app::flow_picture
