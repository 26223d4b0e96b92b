#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/run/analyses/circuit.h"
#include "app/run/analyses/patterns.h"
#include "app/views/output/layered.h"

// The picture of a circuit: a level for the embeddings, for each layer's heads and for its MLP, and for the
// logits, from the bottom up.
namespace headscope::app {

/// "L5 H1", "MLP 5", "embedding".
std::string name_of(model::StreamWriter part);
/// "L5 H1 q", "MLP 5", "logits".
std::string name_of(model::StreamReader part);

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
  int place = 0;         ///< in the circuit: row * edge_count + edge
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

/// What is drawn of a circuit.
struct Graph {
  std::vector<Node> nodes;
  std::vector<Link> links;  ///< the weakest first
  std::vector<Passage> passages;
  std::vector<int> columns;  ///< positions that have nodes; empty: positions together
  int levels = 0;

  Graph(const Circuit& circuit, const EdgeList& edges, const Patterns& patterns);
};

constexpr float kThickest = 1.6F;  ///< units, of the strongest edge
viz::Color color_of(const viz::Theme& theme, model::StreamReader::Kind reads);

/// A graph whose parts have places.
class Drawing {
 public:
  Drawing(Graph graph, viz::Rect area, const ViewContext& context);

  bool fits() const { return fits_; }
  const Graph& graph() const { return graph_; }
  viz::Rect area() const { return area_; }
  /// `chosen`: the place of an edge; -1: none.
  void paint(Picture& picture, const ViewContext& context, int chosen) const;

 private:
  bool place();
  void paint_layers(viz::Scene& scene, const ViewContext& context) const;
  void paint_passages(viz::Scene& scene, const ViewContext& context) const;
  void paint_columns(viz::Scene& scene, const ViewContext& context) const;

  Graph graph_;
  viz::Rect area_;
  viz::Style style_;
  float label_width_ = 0;
  bool fits_ = false;
  std::vector<float> column_at_;  ///< middles
};

}  // namespace circuit_picture
}  // namespace headscope::app
