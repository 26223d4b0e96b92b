#pragma once
#include <cstdint>
#include <vector>

#include "model/files/config.h"

/// The residual stream as a graph (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"):
/// each part of the model reads the sum of what earlier parts wrote, so there is an edge from every writer to
/// every later reader.
namespace headscope::model {

/// A part of the model that writes to the residual stream.
struct StreamWriter {
  enum class Kind { embedding, head, mlp };  ///< the embedding is that of the token plus the position
  Kind kind = Kind::embedding;
  int layer = 0;
  int head = 0;
  bool operator==(const StreamWriter&) const = default;
};

/// A part that reads it. A head's queries, keys and values are separate readers.
struct StreamReader {
  enum class Kind { q, k, v, mlp, logits };
  Kind kind = Kind::logits;
  int layer = 0;
  int head = 0;
  bool is_head() const { return kind < Kind::mlp; }
  bool operator==(const StreamReader&) const = default;
};

/// Numbers the parts of a model and the edges between them, from 0 in the order of the pass. The edges of a
/// reader are consecutive, in the order of their writers.
class StreamGraph {
 public:
  explicit StreamGraph(const Config& config) : StreamGraph(config.n_layer, config.n_head) {}
  StreamGraph(int n_layer, int n_head);

  int writer_count() const { return static_cast<int>(writers_.size()); }
  int reader_count() const { return static_cast<int>(readers_.size()); }
  int edge_count() const { return first_edges_.back(); }

  StreamWriter writer(int index) const { return writers_[index]; }
  StreamReader reader(int index) const { return readers_[index]; }
  int index(StreamWriter writer) const;
  int index(StreamReader reader) const;

  /// The reader reads writers [0, sources).
  int sources(StreamReader reader) const;
  /// The number of the edge from writer 0.
  int first_edge(int reader) const { return first_edges_[reader]; }
  int edge(int writer, int reader) const { return first_edges_[reader] + writer; }
  int reader_of(int edge) const;
  int writer_of(int edge) const { return edge - first_edges_[reader_of(edge)]; }

  bool operator==(const StreamGraph&) const = default;

 private:
  int n_head_;
  std::vector<StreamWriter> writers_{StreamWriter{}};  // first the embedding
  std::vector<StreamReader> readers_;
  std::vector<int> first_edges_{0};  // [readers + 1]
};

/// What each writer added to the residual stream at each position, or the difference of two of these.
struct StreamWrites {
  int length = 0;                       ///< T
  std::vector<float> embedding;         ///< [T, d_model]
  std::vector<std::vector<float>> z;    ///< [layers][T, d_model]: heads' outputs before c_proj.weight
  std::vector<std::vector<float>> mlp;  ///< [layers][T, d_model]
};

/// Edges that carry what their writers write in a pass.
struct KeptEdges {
  std::vector<std::uint8_t> edges;  ///< [rows, edge_count]: 0 or 1; one row: the same at all positions
  int rows = 1;
};

}  // namespace headscope::model
