#pragma once
#include <vector>

#include "model/files/weights.h"
#include "model/kernels/kernels.h"
#include "model/kernels/product.h"
#include "model/kernels/workers.h"
#include "model/pass/run.h"
#include "model/pass/transformer.h"

/// Steps that several passes take: forward, backward, with cut edges, and along a direct path.
namespace headscope::model {

/// For the files that define members of Transformer.
struct Transformer::Impl {
  Weights weights;
  std::shared_ptr<const void> identity = std::make_shared<char>();  ///< marks the runs of these weights
};

/// Rows whose logits are held at a time.
constexpr int kRowsOfLogits = 64;

/// What acts on activations between the steps: a run's edits, then callbacks.
struct Tap {
  const Run* run = nullptr;      ///< null: no edits
  int first = 0;                 ///< the position of row 0
  int depth = 1;                 ///< consecutive rows of the same position
  Means* means = nullptr;        ///< computed from rows of all positions; null: the run's are known
  const Hooks* hooks = nullptr;  ///< null: none

  bool edits(HookPoint point) const { return run != nullptr && run->plan && run->plan->edits(point); }
  bool wants(HookPoint point) const { return edits(point) || (hooks != nullptr && hooks->wants(point)); }
  /// Edits the rows as the plan says, then shows them to the callbacks.
  void at(HookPoint point, FloatRows rows, int head = 0) const;
  /// Row i of the end of the run's stream.
  auto stream() const {
    return [tap = *this](int i) { return tap.run->resid(tap.run->config.n_layer, tap.first + i); };
  }
};

/// out [n, d_model] = the layer norm (Ba et al. 2016) of rows row_of(0) .. row_of(n - 1), with gain and bias.
/// tap: a Tap, or anything with its `wants` and `at`.
template <class RowOf, class AnyTap>
void layer_norm(const LayerNormWeights& w, float epsilon, HookPoint scale, HookPoint normalized,
                const RowOf& row_of, const AnyTap& tap, Workers& workers, FloatRows out) {
  const auto finish_row = [&](int i) { apply_gain_and_bias(w.gain, w.bias, out.row(i)); };
  if (!tap.wants(scale) && !tap.wants(normalized))
    return workers.for_rows(out.rows, [&](int i) {
      divide(out.row(i), center(row_of(i), epsilon, out.row(i)));
      finish_row(i);
    });
  std::vector<float> scales(out.rows);
  workers.for_rows(out.rows, [&](int i) { scales[i] = center(row_of(i), epsilon, out.row(i)); });
  tap.at(scale, {scales.data(), out.rows, 1, 1});
  workers.for_rows(out.rows, [&](int i) { divide(out.row(i), scales[i]); });
  tap.at(normalized, out);
  workers.for_rows(out.rows, finish_row);
}

/// The final layer norm: out [n, d_model].
template <class RowOf>
void final_layer_norm(const Weights& weights, const RowOf& row_of, const Tap& tap, Workers& workers,
                      FloatRows out) {
  layer_norm(weights.ln_f, weights.config.layer_norm_epsilon, {Site::ln_final_scale},
             {Site::ln_final_normalized}, row_of, tap, workers, out);
}

/// hidden [n, n_inner] = the hidden units of a layer's MLP before their non-linearity, for rows row_of(0) ..
/// row_of(n - 1) of the stream; normalized [n, d_model]: memory for their layer norm. tap: see layer_norm.
template <class RowOf, class AnyTap>
void mlp_units(const Weights& weights, int layer, const RowOf& row_of, const AnyTap& tap, Workers& workers,
               FloatRows normalized, FloatRows hidden) {
  const BlockWeights& block = weights.h[layer];
  layer_norm(block.ln_2, weights.config.layer_norm_epsilon, {Site::ln2_scale, layer},
             {Site::ln2_normalized, layer}, row_of, tap, workers, normalized);
  linear(normalized, block.mlp_c_fc, workers, hidden);
  tap.at({Site::mlp_pre, layer}, hidden);
}

/// out [n, d_model] = the MLP's output for these rows; hidden [n, n_inner]: memory for its hidden units.
template <class RowOf, class AnyTap>
void mlp(const Weights& weights, int layer, const RowOf& row_of, const AnyTap& tap, Workers& workers,
         FloatRows hidden, FloatRows out) {
  mlp_units(weights, layer, row_of, tap, workers, out, hidden);
  workers.for_rows(hidden.rows, [&](int i) {
    activate(workers.kernels().rows, weights.config.activation, hidden.row(i));
  });
  tap.at({Site::mlp_post, layer}, hidden);
  linear(hidden, weights.h[layer].mlp_c_proj, workers, out);
  tap.at({Site::mlp_out, layer}, out);
}

/// The logits of positions of tap.run from tap.first on, [n, vocab_size]; normalized [n, d_model]: memory for
/// their layer norm.
void find_logits(const Weights& weights, const Tap& tap, Workers& workers, FloatRows normalized,
                 FloatRows logits);

/// out [n, m] = columns [first, first + m) of x [n, in] times the weight, plus bias.
void linear_columns(ConstFloatRows x, const LinearWeights& w, int first, Workspace::Impl& workspace,
                    FloatRows out);

/// Shows the tap each head's result, z [n, d_model] by head times its rows of the projection. If edits act on
/// these, out [n, d_model] becomes their sum and the bias.
void tap_results(const Weights& weights, int layer, const Tap& tap, FloatRows z, Workspace::Impl& workspace,
                 FloatRows out);

}  // namespace headscope::model
