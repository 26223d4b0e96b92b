#include "model/circuit/stream_graph.h"

#include <algorithm>
#include <utility>

#include "model/pass/shared_steps.h"

namespace headscope::model {

StreamGraph::StreamGraph(int n_layer, int n_head) : n_head_(n_head) {
  const auto add_reader = [&](StreamReader reader) {
    readers_.push_back(reader);
    first_edges_.push_back(first_edges_.back() + writer_count());
  };
  using enum StreamReader::Kind;
  for (int layer = 0; layer < n_layer; ++layer) {
    for (int head = 0; head < n_head; ++head)
      for (const StreamReader::Kind kind : {q, k, v}) add_reader({kind, layer, head});
    for (int head = 0; head < n_head; ++head) writers_.push_back({StreamWriter::Kind::head, layer, head});
    add_reader({mlp, layer});
    writers_.push_back({StreamWriter::Kind::mlp, layer});
  }
  add_reader({logits});
}

int StreamGraph::index(StreamWriter writer) const {
  if (writer.kind == StreamWriter::Kind::embedding) return 0;
  const int head = writer.kind == StreamWriter::Kind::mlp ? n_head_ : writer.head;
  return 1 + writer.layer * (n_head_ + 1) + head;
}

int StreamGraph::index(StreamReader reader) const {
  const int of_layer = 3 * n_head_ + 1;
  if (reader.kind == StreamReader::Kind::logits) return reader_count() - 1;
  if (reader.kind == StreamReader::Kind::mlp) return (reader.layer + 1) * of_layer - 1;
  return reader.layer * of_layer + 3 * reader.head + static_cast<int>(reader.kind);
}

int StreamGraph::sources(StreamReader reader) const {
  const int i = index(reader);
  return first_edges_[i + 1] - first_edges_[i];
}

int StreamGraph::reader_of(int edge) const {
  return static_cast<int>(std::ranges::upper_bound(first_edges_, edge) - first_edges_.begin()) - 1;
}

StreamWrites Transformer::stream_writes(const Run& run, Workspace& workspace, std::stop_token stop) const {
  const Config& config = this->config();
  const std::vector<float> rows(static_cast<std::size_t>(run.length()) * config.n_embd);
  StreamWrites writes{run.length(), rows, {}, {}};
  writes.z.assign(config.n_layer, rows);
  writes.mlp.assign(config.n_layer, rows);
  Hooks hooks;
  for (const Site site : {Site::embed, Site::pos_embed})
    hooks.watch({site}, [sum = rows_of(writes.embedding, config.n_embd)](const ConstActivation2d& piece) {
      for (int i = 0; i < piece.rows; ++i) add(piece.row(i), sum.row(piece.first_pos + i));
    });
  for (int layer = 0; layer < config.n_layer; ++layer) {
    hooks.record({Site::z, layer}, rows_of(writes.z[layer], config.n_embd));
    hooks.record({Site::mlp_out, layer}, rows_of(writes.mlp[layer], config.n_embd));
  }
  forward(run.tokens, workspace, {.base = &run, .plan = run.plan, .hooks = &hooks, .stop = std::move(stop)});
  return writes;
}

}  // namespace headscope::model
