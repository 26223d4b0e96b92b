#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "model/files/error.h"
#include "model/kernels/product.h"
#include "model/maths/eigen_maps.h"
#include "model/pass/attention.h"
#include "model/pass/shared_steps.h"

namespace headscope::model {
namespace {

void subtract(std::span<const float> other, std::span<float> row) {
  std::ranges::transform(row, other, row.begin(), std::minus<>());
}

/// Rows are [T, d_model]. What a reader sees is the cut run's stream, plus for each kept edge the difference
/// between what its writer wrote here and what it wrote there. Parts without a kept edge from them are left
/// out.
class CutPass {
 public:
  CutPass(const Weights& weights, std::span<const int> tokens, const StreamWrites& cut, const KeptEdges& kept,
          Workspace::Impl& workspace, const std::stop_token& stop)
      : weights_(weights), tokens_(tokens), cut_(cut), kept_(kept), workspace_(workspace), stop_(stop) {
    for (int row = 0; row < kept_.rows; ++row)
      for (int reader = 0; reader < graph_.reader_count(); ++reader) {
        const auto edges = kept_edges(row, reader);
        for (std::size_t writer = 0; writer < edges.size(); ++writer) used_[writer] |= edges[writer];
      }
    workers_.reserve_scratch(std::max(product_scratch(), attention_scratch(config_)));
  }

  double go(std::span<const float> embedding, const Metric& metric) {
    std::ranges::copy(cut_.embedding, base_.begin());
    if (!leaves_out_next()) {
      std::ranges::copy(embedding, out_.begin());
      wrote(cut_.embedding);
    }
    for (int layer = 0; layer < config_.n_layer; ++layer) {
      if (stop_.stop_requested()) throw Stopped();
      attention(layer);
      mlp(layer);
    }
    return measure(metric);
  }

 private:
  FloatRows rows(std::vector<float>& values) const { return rows_of(values, width_); }
  ConstFloatRows rows(const std::vector<float>& values) const { return rows_of(values, width_); }

  /// The rows of the stream that a reader sees, valid until the next call.
  auto seen_by(StreamReader reader) {
    workers_.for_rows(length_, [&, index = graph_.index(reader)](int i) {
      sum_seen(i, kept_edges(kept_.rows == 1 ? 0 : i, index), rows(stream_).row(i));
    });
    return [seen = rows(stream_)](int i) { return seen.row(i); };
  }

  /// read_ = the layer norm of the stream that a reader sees.
  void read(StreamReader reader, const LayerNormWeights& norm) {
    layer_norm(norm, config_.layer_norm_epsilon, {}, {}, seen_by(reader), Tap{}, workers_, rows(read_));
  }

  /// The edges to a reader.
  std::span<const std::uint8_t> kept_edges(int row, int reader) const {
    const std::size_t first = static_cast<std::size_t>(row) * graph_.edge_count() + graph_.first_edge(reader);
    return std::span(kept_.edges)
        .subspan(first, static_cast<std::size_t>(graph_.sources(graph_.reader(reader))));
  }

  /// sum = what the kept edges and the cut run bring to a position. Adds what is kept, or subtracts what is
  /// cut from all of it, whichever is less.
  void sum_seen(int position, std::span<const std::uint8_t> kept, std::span<float> sum) const {
    std::ranges::copy(rows(base_).row(position), sum.begin());
    const bool most = 2 * std::ranges::count(kept, 1) > std::ssize(kept);
    if (most) add(rows(all_).row(position), sum);
    for (std::size_t writer = 0; writer < kept.size(); ++writer) {
      if (!used_[writer]) continue;
      const std::span<const float> written = rows(written_[writer]).row(position);
      if (most && kept[writer] == 0) subtract(written, sum);
      if (!most && kept[writer] != 0) add(written, sum);
    }
  }

  /// Whether the next writer is left out, which then has written nothing.
  bool leaves_out_next() {
    if (used_[written_.size()]) return false;
    written_.emplace_back();
    return true;
  }

  /// Keeps the difference between out_ and what the cut run has in its place.
  void wrote(const std::vector<float>& there) {
    workers_.for_rows(length_, [&](int i) { subtract(rows(there).row(i), rows(out_).row(i)); });
    wrote_difference();
  }
  void wrote_difference() {
    workers_.for_rows(length_, [&](int i) { add(rows(out_).row(i), rows(all_).row(i)); });
    written_.push_back(out_);
  }

  void attention(int layer) {
    const BlockWeights& block = weights_.h[layer];
    const int d_head = config_.d_head();
    const auto is_used = [&](int head) {
      return used_[graph_.index(StreamWriter{StreamWriter::Kind::head, layer, head})];
    };
    for (int head = 0; head < config_.n_head; ++head)
      for (const StreamReader::Kind kind :
           {StreamReader::Kind::q, StreamReader::Kind::k, StreamReader::Kind::v}) {
        if (!is_used(head)) continue;
        read({kind, layer, head}, block.ln_1);
        const int column = static_cast<int>(kind) * width_ + head * d_head;
        linear_columns(rows(std::as_const(read_)), block.attn_c_attn, column, workspace_,
                       rows_of(qkv_, 3 * width_).middle_cols(column, d_head));
      }
    workers_.parallel_for(config_.n_head, [&](int head, float*) {
      if (is_used(head)) attend_head(layer, head);
    });
    workers_.for_rows(length_, [&](int i) { subtract(rows(cut_.z[layer]).row(i), rows(z_).row(i)); });
    for (int head = 0; head < config_.n_head; ++head) {
      if (leaves_out_next()) continue;
      product(rows(z_).middle_cols(head * d_head, d_head), block.attn_c_proj.weight, {head * d_head, 0},
              workers_, rows(out_));
      wrote_difference();
    }
    linear(rows(cut_.z[layer]), block.attn_c_proj, workers_, rows(out_));
    add_to_base(out_);
  }

  /// z_ of a head, from qkv_.
  void attend_head(int layer, int head) {
    const int d_head = config_.d_head();
    const auto part = [&](int which) {
      return map(rows_of(qkv_, 3 * width_).middle_cols(which * width_ + head * d_head, d_head));
    };
    std::vector<float> memory(static_cast<std::size_t>(length_) * length_);
    const FloatRows scores{memory.data(), length_, length_, length_};
    map(scores).noalias() = part(0) * part(1).transpose();
    softmax_causal(workers_.kernels(), config_.attention_scale(layer), 0, scores);
    map(rows(z_).middle_cols(head * d_head, d_head)).noalias() = map(scores) * part(2);
  }

  void mlp(int layer) {
    if (leaves_out_next()) return add_to_base(cut_.mlp[layer]);
    model::mlp(weights_, layer, seen_by({StreamReader::Kind::mlp, layer, 0}), Tap{}, workers_,
               rows_of(hidden_, config_.n_inner), rows(out_));
    wrote(cut_.mlp[layer]);
    add_to_base(cut_.mlp[layer]);
  }

  void add_to_base(const std::vector<float>& written) {
    workers_.for_rows(length_, [&](int i) { add(rows(written).row(i), rows(base_).row(i)); });
  }

  double measure(const Metric& metric) {
    read({StreamReader::Kind::logits}, weights_.ln_f);
    const Positions measured = positions_of(metric, length_);
    double value = 0;
    for (int done = 0; done < measured.count; done += kRowsOfLogits) {
      if (stop_.stop_requested()) throw Stopped();
      const int first = measured.first + done, count = std::min(kRowsOfLogits, measured.count - done);
      const FloatRows logits = workspace_.logits.rows(count, config_.vocab_size);
      product(rows(read_).middle_rows(first, count), weights_.lm_head, {}, workers_, logits);
      for (int i = 0; i < count; ++i) value += differentiate(metric, tokens_, first + i, logits.row(i));
    }
    return value;
  }

  const Weights& weights_;
  const Config& config_ = weights_.config;
  StreamGraph graph_{config_};
  std::span<const int> tokens_;
  const StreamWrites& cut_;
  const KeptEdges& kept_;
  Workspace::Impl& workspace_;
  Workers& workers_ = workspace_.workers;
  const std::stop_token& stop_;
  int length_ = static_cast<int>(tokens_.size()), width_ = config_.n_embd;
  std::vector<float> base_ = std::vector<float>(tokens_.size() * width_);  // the cut run's stream
  std::vector<float> all_ = base_;                                         // the sum of written_
  std::vector<std::vector<float>> written_;  // [writers]: minus what the cut run has in their place
  std::vector<float> stream_ = base_, read_ = base_, z_ = base_, out_ = base_;
  std::vector<float> qkv_ = std::vector<float>(3 * base_.size()),
                     hidden_ = std::vector<float>(tokens_.size() * config_.n_inner);
  std::vector<std::uint8_t> used_ =
      std::vector<std::uint8_t>(graph_.writer_count());  // whether an edge from a writer is kept
};

}  // namespace

double Transformer::cut_pass(const Run& run, std::span<const float> embedding, const StreamWrites& cut,
                             const KeptEdges& kept, const Metric& metric, Workspace& workspace,
                             std::stop_token stop) const {
  check(config(), run.length(), metric);
  return CutPass(impl_->weights, run.tokens, cut, kept, workspace.impl(), stop).go(embedding, metric);
}

}  // namespace headscope::model
