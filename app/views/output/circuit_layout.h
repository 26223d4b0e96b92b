#pragma once
#include "app/run/analyses/circuit.h"
#include "app/views/view.h"

// Where the parts of a circuit and its edges are drawn: a level for the embeddings, for each layer's heads
// and for its MLP, and for the logits, from the bottom up.
namespace headscope::app::circuit_picture {

/// A part of the model; by position, at one position.
struct Node {
  enum class Kind { embedding, head, mlp, logits };
  Kind kind = Kind::embedding;
  int layer = 0, head = 0;
  int row = 0;  ///< position if the circuit is by position, else 0
  int level = 0;
  viz::Rect box = {};
  std::string label = {};
  bool same_place(const Node& other) const {
    return kind == other.kind && layer == other.layer && head == other.head && row == other.row;
  }
};

/// An edge of the circuit.
struct Link {
  int place = 0;         ///< in the circuit: row * edge_count + edge
  int from = 0, to = 0;  ///< nodes
  model::StreamReader::Kind reads = model::StreamReader::Kind::logits;
  float score = 0;
  float width = 1;
  std::vector<viz::Point> points = {};
};

/// A head's way from a key's position to a query's, if the circuit is by position.
struct Passage {
  int from = 0, to = 0;  ///< nodes of the head
};

/// A layer's levels.
struct Band {
  int layer = 0;
  float top = 0, bottom = 0;
};

struct Layout {
  std::vector<Node> nodes;
  std::vector<Link> links;  ///< the weakest first
  std::vector<Passage> passages;
  std::vector<Band> bands;
  std::vector<int> columns;      ///< positions that have nodes; empty: positions together
  std::vector<float> column_at;  ///< their middles
  viz::Rect area;                ///< of the nodes
  float label_width = 0;         ///< room for the layers' names at the left
  float thickest = 1;            ///< width of the strongest edge
  double strongest = 0;          ///< its score's magnitude
  bool fits = true;
};

/// `edges`: of the circuit, ascending.
Layout lay_out(const ViewContext& context, const Circuit& circuit, std::span<const int> edges,
               viz::Rect area);

/// The smallest height in which the levels have room, for a picture of the context's width.
float needed_height(const ViewContext& context, const Circuit& circuit, std::span<const int> edges);

}  // namespace headscope::app::circuit_picture
