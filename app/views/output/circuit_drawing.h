#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/run/analyses/circuit.h"
#include "app/run/analyses/patterns.h"
#include "app/views/output/layered.h"

// The picture of a circuit: from the bottom up the embeddings, each layer's heads and MLP, and the logits.
namespace headscope::app {

/// "L5 H1", "MLP 5", "embedding".
std::string name_of(model::StreamWriter part);
/// "L5 H1 q", "MLP 5", "logits".
std::string name_of(model::StreamReader part);

/// An edge of a circuit, which gives it a place: row * edge_count + edge.
struct CircuitEdge {
  int row = 0;  ///< position if the circuit is by position, else 0
  model::StreamWriter from;
  model::StreamReader to;
};
inline CircuitEdge edge_at(const Circuit& circuit, int place) {
  const model::StreamGraph& graph = circuit.graph;
  const int edge = place % graph.edge_count();
  return {place / graph.edge_count(), graph.writer(graph.writer_of(edge)),
          graph.reader(graph.reader_of(edge))};
}

namespace circuit_picture {

/// A part of the model; by position, at one position.
struct Node : layered::Shape {
  std::optional<model::StreamWriter> part;  ///< none: the logits
  int row = 0;                              ///< position if the circuit is by position, else 0
  int level = 0;

  bool is_head() const { return part && part->kind == model::StreamWriter::Kind::head; }
  bool is_in_layer() const { return part && part->kind != model::StreamWriter::Kind::embedding; }
  std::string name() const { return part ? name_of(*part) : name_of(model::StreamReader{}); }
};

/// An edge of the circuit.
struct Link : layered::Shape {
  int place = 0;         ///< in the circuit
  int from = 0, to = 0;  ///< nodes
  model::StreamReader::Kind reads = model::StreamReader::Kind::logits;
  float score = 0;
};

/// A head's way from a key's position to a query's, if the circuit is by position.
struct Passage {
  int from = 0, to = 0;  ///< nodes of the head
  double weight = 0;
};

/// The patterns of heads that edges lead to, by layer and head.
using Patterns = std::map<std::pair<int, int>, std::shared_ptr<const Pattern>>;

/// What is drawn of a circuit, and once it is placed, where.
struct Graph {
  std::vector<Node> nodes;
  std::vector<Link> links;  ///< the weakest first
  std::vector<Passage> passages;
  std::vector<int> columns;       ///< positions that have nodes; empty: positions together
  std::vector<float> columns_at;  ///< their middles
  int levels = 0;
  viz::Rect area;  ///< of the parts

  Graph(const Circuit& circuit, const EdgeList& edges, const Patterns& patterns);
  /// Places all of it; false: there is no room.
  bool place(const ViewContext& context, viz::Rect page);
  /// `chosen`: the place of an edge; -1: none.
  void paint(Picture& picture, const ViewContext& context, int chosen) const;
};

constexpr float kThickest = 1.6F;  ///< units, of the strongest edge
viz::Color color_of(const viz::Theme& theme, model::StreamReader::Kind reads);

}  // namespace circuit_picture
}  // namespace headscope::app
