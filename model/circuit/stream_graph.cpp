#include "model/circuit/stream_graph.h"

#include <algorithm>
#include <utility>

#include "model/pass/shared_steps.h"

namespace headscope::model {
namespace {

constexpr int kHeadReaders = 3;  // q, k and v

}  // namespace

StreamGraph::StreamGraph(int n_layer, int n_head) : n_layer_(n_layer), n_head_(n_head), first_edges_{0} {
  for (int reader = 0; reader < reader_count(); ++reader)
    first_edges_.push_back(first_edges_.back() + sources(this->reader(reader)));
}

StreamWriter StreamGraph::writer(int index) const {
  if (index == 0) return {};
  const int layer = (index - 1) / (n_head_ + 1), head = (index - 1) % (n_head_ + 1);
  if (head == n_head_) return {StreamWriter::Kind::mlp, layer, 0};
  return {StreamWriter::Kind::head, layer, head};
}

StreamReader StreamGraph::reader(int index) const {
  const int of_layer = kHeadReaders * n_head_ + 1, layer = index / of_layer, place = index % of_layer;
  if (layer == n_layer_) return {};
  if (place == of_layer - 1) return {StreamReader::Kind::mlp, layer, 0};
  return {static_cast<StreamReader::Kind>(place % kHeadReaders), layer, place / kHeadReaders};
}

int StreamGraph::index(StreamWriter writer) const {
  if (writer.kind == StreamWriter::Kind::embedding) return 0;
  const int head = writer.kind == StreamWriter::Kind::mlp ? n_head_ : writer.head;
  return 1 + writer.layer * (n_head_ + 1) + head;
}

int StreamGraph::index(StreamReader reader) const {
  const int of_layer = kHeadReaders * n_head_ + 1;
  if (reader.kind == StreamReader::Kind::logits) return n_layer_ * of_layer;
  if (reader.kind == StreamReader::Kind::mlp) return reader.layer * of_layer + of_layer - 1;
  return reader.layer * of_layer + reader.head * kHeadReaders + static_cast<int>(reader.kind);
}

int StreamGraph::sources(StreamReader reader) const {
  if (reader.kind == StreamReader::Kind::logits) return writer_count();
  const int before = 1 + reader.layer * (n_head_ + 1);
  return reader.kind == StreamReader::Kind::mlp ? before + n_head_ : before;
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
