#pragma once
#include "app/run/analyses/logit_flow.h"
#include "app/views/view.h"

// The part of a flow that is drawn: its strongest edges, the tokens at their ends, and the rest together.
namespace headscope::app::flow_picture {

/// A token's column, with numbers of each layer, all parts of the logit.
struct TokenColumn {
  int position = 0;
  double embedding = 0;         ///< of token and position, as edited
  double mlp = 0;               ///< sum of `mlps`
  std::vector<double> stream;   ///< [layers + 1], see LogitFlow::stream
  std::vector<double> mlps;     ///< [layers]
  std::vector<double> sent;     ///< [layers], by drawn edges
  std::vector<double> arrived;  ///< [layers], by drawn edges
  std::vector<double>
      rest;  ///< [layers + 1], net of edges not drawn, biases and edits; the last: ln_f's bias
  double sources() const { return embedding + mlp; }
};

/// Whether only the ends of an edge are drawn: most heads rest on the first token.
inline bool is_stub(const FlowEdge& edge) {
  return edge.key == 0 && edge.query != 0;
}

/// The drawn part of a flow. The columns' sources and the rest add up to the logit.
struct Graph {
  int layers = 0;
  int target = 0;  ///< position
  double logit = 0;
  std::vector<FlowEdge> edges;       ///< drawn ones, strongest first
  std::vector<TokenColumn> columns;  ///< in the order of positions
  double rest = 0;                   ///< sum of the columns' rests
  double magnitude = 0;              ///< sum of the magnitudes of drawn edges

  int column_of(int position) const;  ///< index; -1: it has none
};

/// The strongest edges from which edges before them lead to the logit. Fewer are the first of more.
std::vector<FlowEdge> leading_edges(const LogitFlow& flow, int most);
/// With these edges drawn.
Graph graph_with(const LogitFlow& flow, std::vector<FlowEdge> edges);

/// A row for each edge and source, sorted by magnitude; sources and rounding error add up to the logit.
Table table_of(const ViewContext& context, const LogitFlow& flow);

/// A contribution as the drawing writes it: "+0.28", "−0.11".
std::string signed_words(double value);

}  // namespace headscope::app::flow_picture
