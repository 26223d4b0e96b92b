#include "model/pass/direct_path.h"

#include <algorithm>

#include "model/kernels/kernels.h"
#include "model/kernels/product.h"

namespace headscope::model {
namespace {

using Values = std::vector<float>;  // [T, columns]

/// The layers whose heads and MLPs write to the stream before a receiver reads it.
int layers_before(HookPoint receiver) {
  return receiver.site == Site::resid_post ? receiver.layer + 1 : receiver.layer;
}

int first_layer(const Edits& senders) {
  return point_of(*std::ranges::min_element(senders, {}, [](const Edit& e) { return point_of(e).layer; }))
      .layer;
}

/// The steps of the pass, in its order, that are not the run's.
class Stream {
 public:
  Stream(const Weights& weights, const DirectPath& path, const RecordedActivations& run, int length,
         Workers& workers)
      : weights_(weights), path_(path), run_(run), length_(length), workers_(workers) {
    if (path.edits != nullptr) means_ = path.edits->no_means();
    sender_means_ = path.senders->no_means();
  }

  Values received() {
    const int first = first_layer(path_.senders->edits()), end = layers_before(path_.receiver);
    stream_ = recorded({Site::resid_pre, first});
    for (int layer = first; layer < end; ++layer) {
      write(attention(layer));
      edit({Site::resid_mid, layer}, stream_);
      Values mlp = recorded({Site::mlp_out, layer});
      send({Site::mlp_out, layer}, mlp);
      write(mlp);
      edit({Site::resid_post, layer}, stream_);
      if (layer + 1 < weights_.config.n_layer) edit({Site::resid_pre, layer + 1}, stream_);
    }
    return path_.receiver.site == Site::resid_post ? std::move(stream_) : read();
  }

 private:
  Values recorded(HookPoint point) const {
    const std::span<const float> values = run_(point);
    return {values.begin(), values.end()};
  }

  FloatRows rows_of(Values& values) const {
    const auto cols = static_cast<int>(values.size() / static_cast<std::size_t>(length_));
    return {values.data(), length_, cols, cols};
  }

  Values zeros(int cols) const { return Values(static_cast<std::size_t>(length_) * cols); }

  static Activation2d whole(HookPoint point, FloatRows rows, int head = 0) {
    return {point, head, 0, 0, rows.rows, rows.cols, rows.stride, rows.data};
  }

  /// The run's edits.
  void edit(HookPoint point, Values& values, int head = 0) {
    if (path_.edits != nullptr && path_.edits->edits(point))
      path_.edits->apply_to_all(whole(point, rows_of(values), head), means_);
  }

  void send(HookPoint point, Values& values) {
    if (path_.senders->edits(point))
      path_.senders->apply_to_all(whole(point, rows_of(values)), sender_means_);
  }

  void write(const Values& branch) {
    for (std::size_t i = 0; i < branch.size(); ++i) stream_[i] += branch[i];
  }

  /// What the heads of a layer write.
  Values attention(int layer) {
    const HookPoint point{Site::z, layer}, result{Site::result, layer};
    if (!path_.senders->edits(point)) return recorded({Site::attn_out, layer});
    const LinearWeights& projection = weights_.h[layer].attn_c_proj;
    const int d_head = weights_.config.d_head();
    Values z = recorded(point), out = zeros(weights_.config.n_embd);
    send(point, z);
    if (path_.edits != nullptr && path_.edits->edits(result)) {  // added up as in the pass
      for (int i = 0; i < length_; ++i) std::ranges::copy(projection.bias, rows_of(out).row_data(i));
      for (int head = 0; head < weights_.config.n_head; ++head) {
        Values of_head = zeros(weights_.config.n_embd);
        product_with_slice(rows_of(z).middle_cols(head * d_head, d_head), projection.weight, head * d_head,
                           workers_, rows_of(of_head));
        edit(result, of_head, head);
        for (std::size_t i = 0; i < out.size(); ++i) out[i] += of_head[i];
      }
    } else {
      linear(rows_of(z), projection, workers_, rows_of(out));
    }
    edit({Site::attn_out, layer}, out);
    return out;
  }

  /// The receiver's q, k or v of the stream.
  Values read() {
    const HookPoint point = path_.receiver;
    const BlockWeights& block = weights_.h[point.layer];
    const int d = weights_.config.n_embd;
    Values normalized = zeros(d), scale = zeros(1);
    const FloatRows rows = rows_of(normalized);
    for (int i = 0; i < length_; ++i)
      scale[i] = center(rows_of(stream_).row(i), weights_.config.layer_norm_epsilon, rows.row(i));
    edit({Site::ln1_scale, point.layer}, scale);
    for (int i = 0; i < length_; ++i) divide(rows.row(i), scale[i]);
    edit({Site::ln1_normalized, point.layer}, normalized);
    for (int i = 0; i < length_; ++i) apply_gain_and_bias(block.ln_1.gain, block.ln_1.bias, rows.row(i));

    const int first = (static_cast<int>(point.site) - static_cast<int>(Site::q)) * d,
              panel = first / kPanelCols * kPanelCols;  // c_attn has the columns of q, k and v side by side
    Values columns = zeros(first + d - panel), received;
    linear(rows, block.attn_c_attn, workers_, rows_of(columns), panel);
    for (int i = 0; i < length_; ++i) {
      const std::span<float> row = rows_of(columns).row(i).last(static_cast<std::size_t>(d));
      received.insert(received.end(), row.begin(), row.end());
    }
    edit(point, received);
    return received;
  }

  const Weights& weights_;
  const DirectPath& path_;
  const RecordedActivations& run_;
  int length_;
  Workers& workers_;
  Values stream_;
  Means means_, sender_means_;
};

}  // namespace

std::vector<HookPoint> points_on_path(const Edits& senders, HookPoint receiver) {
  const int first = first_layer(senders);
  std::vector<HookPoint> points{{Site::resid_pre, first}};
  for (int layer = first; layer < layers_before(receiver); ++layer) {
    const HookPoint z{Site::z, layer};
    const bool sends = std::ranges::any_of(senders, [&](const Edit& edit) { return point_of(edit) == z; });
    points.push_back(sends ? z : HookPoint{Site::attn_out, layer});
    points.push_back({Site::mlp_out, layer});
  }
  return points;
}

std::vector<float> receive(const Weights& weights, const DirectPath& path, const RecordedActivations& run,
                           int length, Workers& workers) {
  return Stream(weights, path, run, length, workers).received();
}

}  // namespace headscope::model
