#pragma once
#include <algorithm>
#include <span>

#include "model/files/weights.h"
#include "model/kernels/kernels.h"
#include "model/kernels/product.h"
#include "model/kernels/workspace.h"
#include "model/pass/attention.h"

/// Steps between a pass's products, which the pass over one run and that over many variants of it share.
namespace headscope::model {

/// The activations that a pass works on, rows of so many positions each.
struct PassActivations {
  FloatRows resid_, normalized_, z_, branch_;  ///< [rows, d_model]
  FloatRows scale_;                            ///< [rows, 1]
  FloatRows qkv_;                              ///< [rows, 3 d_model]
  FloatRows mlp_;                              ///< [rows, n_inner]

  /// Takes their memory, all of it side by side, so that they share huge pages.
  void lay_out(const Config& config, int rows, Workspace::Impl& workspace);
};

/// Calls body(i) for rows [0, rows), several rows a task.
template <class Body>
void for_rows(Workers& workers, int rows, const Body& body) {
  constexpr int kGroupsPerThread = 4, kMostRows = 16;
  const int group = std::clamp(rows / (workers.threads() * kGroupsPerThread), 1, kMostRows);
  workers.parallel_for_rows(rows, group, [&](int first, int count) {
    for (int i = first; i < first + count; ++i) body(i);
  });
}

/// The two parts of the residual stream's beginning: a token's row of wte, and a row of wpe, or zeros where
/// `row_of_wpe` is -1. token_part, position_part: [d_model].
void embed(const Weights& weights, const PanelKernels& kernels, int token, int row_of_wpe,
           std::span<float> token_part, std::span<float> position_part);

/// Layer norm of rows: x, normalized [n, d_model], scale [n, 1]. Where it is `edited`, edit_scale() and
/// edit_normalized() are called before scale and normalized are used.
template <class EditScale, class EditNormalized>
void layer_norm_rows(Workers& workers, const LayerNormWeights& w, float epsilon, ConstFloatRows x,
                     FloatRows scale, FloatRows normalized, bool edited, const EditScale& edit_scale,
                     const EditNormalized& edit_normalized) {
  const auto center_row = [&](int i) { *scale.row_data(i) = center(x.row(i), epsilon, normalized.row(i)); };
  const auto divide_row = [&](int i) { divide(normalized.row(i), *scale.row_data(i)); };
  const auto finish_row = [&](int i) { apply_gain_and_bias(w.gain, w.bias, normalized.row(i)); };
  if (!edited) {
    for_rows(workers, x.rows, [&](int i) {
      center_row(i);
      divide_row(i);
      finish_row(i);
    });
    return;
  }
  for_rows(workers, x.rows, center_row);
  edit_scale();
  for_rows(workers, x.rows, divide_row);
  edit_normalized();
  for_rows(workers, x.rows, finish_row);
}

/// The attention's output as the bias and the sum of what each head writes: z, out [n, d_model], result as
/// large. Each is handed to edit(head, result) first.
template <class Edit>
void sum_of_results(Workers& workers, const LinearWeights& projection, ConstFloatRows z, int heads,
                    FloatRows result, FloatRows out, const Edit& edit) {
  for (int i = 0; i < out.rows; ++i) std::ranges::copy(projection.bias, out.row_data(i));
  const int d_head = z.cols / heads;
  for (int head = 0; head < heads; ++head) {
    product_with_slice(z.middle_cols(head * d_head, d_head), projection.weight, head * d_head, workers,
                       result);
    edit(head, result);
    for (int i = 0; i < out.rows; ++i) add(result.row(i), out.row(i));
  }
}

}  // namespace headscope::model
