#include "model/pass/shared_steps.h"

#include <algorithm>

namespace headscope::model {

void Tap::at(HookPoint point, FloatRows rows, int head) const {
  const Activation2d all = piece_of(point, rows, first, head);
  if (edits(point)) {
    if (means != nullptr) {
      run->plan->apply_to_all(all, *means);
    } else if (depth == 1) {
      run->plan->apply(all, run->means);
    } else {
      for (int i = 0; i < rows.rows; ++i)
        run->plan->apply(piece_of(point, rows.middle_rows(i, 1), first + i / depth, head), run->means);
    }
  }
  if (hooks != nullptr) hooks->call(all);
}

void find_logits(const Weights& weights, const Tap& tap, Workers& workers, FloatRows normalized,
                 FloatRows logits) {
  final_layer_norm(weights, tap.stream(), tap, workers, normalized);
  product(normalized, weights.lm_head, {}, workers, logits);
  tap.at({Site::logits}, logits);
}

void linear_columns(ConstFloatRows x, const LinearWeights& w, int first, Workspace::Impl& workspace,
                    FloatRows out) {
  const int panel = first / kPanelCols * kPanelCols;
  const FloatRows from_panel = workspace.result.rows(out.rows, first - panel + out.cols);
  linear(x, w, workspace.workers, from_panel, panel);
  workspace.workers.for_rows(
      out.rows, [&](int i) { std::ranges::copy(from_panel.row(i).subspan(first - panel), out.row_data(i)); });
}

void tap_results(const Weights& weights, int layer, const Tap& tap, FloatRows z, Workspace::Impl& workspace,
                 FloatRows out) {
  const HookPoint point{Site::result, layer};
  if (!tap.wants(point)) return;
  const LinearWeights& projection = weights.h[layer].attn_c_proj;
  const int d_head = weights.config.d_head();
  const FloatRows result = workspace.result.rows(out.rows, out.cols);
  const int summed = tap.edits(point) ? out.rows : 0;  // rows of out
  for (int i = 0; i < summed; ++i) std::ranges::copy(projection.bias, out.row_data(i));
  for (int head = 0; head < weights.config.n_head; ++head) {
    const int first = head * d_head;
    product(z.middle_cols(first, d_head), projection.weight, {first, 0}, workspace.workers, result);
    tap.at(point, result, head);
    for (int i = 0; i < summed; ++i) add(result.row(i), out.row(i));
  }
}

}  // namespace headscope::model
