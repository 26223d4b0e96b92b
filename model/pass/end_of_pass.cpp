#include "model/pass/end_of_pass.h"

#include "model/kernels/kernels.h"

namespace headscope::model {
namespace {

/// Applies the final layer norm to the rows that `row_of` returns for each index. Not std::function, which
/// would allocate.
template <class RowOf>
void normalize_rows(const Weights& weights, const RowOf& row_of, const EndOfPass& end, Workers& workers,
                    FloatRows out) {
  workers.for_rows(out.rows, [&](int i) {
    float scale = center(row_of(i), weights.config.layer_norm_epsilon, out.row(i));
    end.apply(Site::ln_final_scale, {&scale, 1, 1, 1}, i);
    divide(out.row(i), scale);
    end.apply(Site::ln_final_normalized, out.middle_rows(i, 1), i);
    apply_gain_and_bias(weights.ln_f.gain, weights.ln_f.bias, out.row(i));
  });
}

}  // namespace

void EndOfPass::apply(Site site, FloatRows rows, int row, int first_col) const {
  if (run == nullptr || run->plan == nullptr || !run->plan->edits({site})) return;
  for (int i = 0; i < rows.rows; ++i)
    run->plan->apply(
        {{site}, 0, first + (row + i) / depth, first_col, 1, rows.cols, rows.stride, rows.row_data(i)},
        run->means);
}

void final_layer_norm(const Weights& weights, ConstFloatRows rows, const EndOfPass& end, Workers& workers,
                      FloatRows out) {
  normalize_rows(
      weights, [&](int i) { return rows.row(i); }, end, workers, out);
}

void final_layer_norm(const Weights& weights, const Run& run, int first, Workers& workers, FloatRows out) {
  normalize_rows(
      weights, [&](int i) { return run.resid(weights.config.n_layer, first + i); }, {&run, first}, workers,
      out);
}

}  // namespace headscope::model
