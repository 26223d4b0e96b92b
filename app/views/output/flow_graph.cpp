#include "app/views/output/flow_graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope::app::flow_picture {
namespace {

/// Whether what an edge brings goes on to the logit by drawn edges.
bool leads_on(const FlowEdge& edge, int target, const std::vector<FlowEdge>& drawn) {
  return edge.query == target || std::ranges::any_of(drawn, [&](const FlowEdge& next) {
           return next.key == edge.query && next.layer > edge.layer;
         });
}

std::vector<FlowEdge> drawn_edges(const LogitFlow& flow, const GraphOptions& options) {
  std::vector<FlowEdge> drawn;
  const auto wanted = static_cast<std::size_t>(std::max(0, options.edges));
  const auto is_wanted = [&](const FlowEdge& edge) {
    const bool first = edge.key == 0 && edge.query != 0;
    return !(first && options.first == FirstToken::hidden);
  };
  std::vector<const FlowEdge*> waiting;  // do not lead on yet
  const auto take_waiting = [&] {
    for (auto at = waiting.begin(); at != waiting.end() && drawn.size() < wanted;) {
      if (leads_on(**at, flow.position, drawn)) {
        drawn.push_back(**at);
        waiting.erase(at);
        at = waiting.begin();
      } else {
        ++at;
      }
    }
  };
  constexpr std::size_t kMostWaiting = 1000;  // the same for any number: fewer edges are the first of more
  for (const FlowEdge& edge : flow.edges) {
    if (drawn.size() >= wanted || !(std::abs(edge.value) >= options.least)) break;
    if (!is_wanted(edge)) continue;
    if (leads_on(edge, flow.position, drawn)) {
      drawn.push_back(edge);
      take_waiting();
    } else if (waiting.size() < kMostWaiting) {
      waiting.push_back(&edge);
    }
  }
  std::ranges::stable_sort(drawn, std::ranges::greater(),
                           [](const FlowEdge& edge) { return std::abs(edge.value); });
  return drawn;
}

Column column_at(const LogitFlow& flow, int position) {
  Column column;
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
  column.rest.push_back(position == flow.position ? flow.final_bias + flow.final_edits : 0);
  column.sent.resize(flow.layers);
  column.arrived.resize(flow.layers);
  return column;
}

}  // namespace

int Graph::column_of(int position) const {
  const auto found = std::ranges::lower_bound(columns, position, {}, &Column::position);
  return found != columns.end() && found->position == position ? static_cast<int>(found - columns.begin())
                                                               : -1;
}

Graph graph_of(const LogitFlow& flow, const GraphOptions& options) {
  Graph graph;
  graph.layers = flow.layers;
  graph.target = flow.position;
  graph.logit = flow.logit;
  graph.edges = drawn_edges(flow, options);
  std::vector<int> positions{flow.position};
  for (const FlowEdge& edge : graph.edges) positions.insert(positions.end(), {edge.query, edge.key});
  std::ranges::sort(positions);
  const auto same = std::ranges::unique(positions);
  positions.erase(same.begin(), same.end());
  for (const int position : positions) graph.columns.push_back(column_at(flow, position));
  for (const FlowEdge& edge : graph.edges) {
    Column& query = graph.columns[graph.column_of(edge.query)];
    Column& key = graph.columns[graph.column_of(edge.key)];
    query.arrived[edge.layer] += edge.value;
    query.rest[edge.layer] -= edge.value;
    key.sent[edge.layer] += edge.value;
    key.rest[edge.layer] += edge.value;
    graph.magnitude += std::abs(edge.value);
  }
  for (const Column& column : graph.columns)
    graph.rest = std::accumulate(column.rest.begin(), column.rest.end(), graph.rest);
  return graph;
}

}  // namespace headscope::app::flow_picture
