#pragma once
#include "model/files/weights.h"
#include "model/kernels/workspace.h"
#include "model/pass/run.h"

namespace headscope::model {

/// Applies edits after the last block to rows, of which row i belongs to position first + i / depth.
struct EndOfPass {
  const Run* run = nullptr;  ///< null: no edits
  int first = 0;
  int depth = 1;

  /// Edits a site after the last block, for rows [n, columns]: rows.row(0) is row `row`, and the columns
  /// start at first_col.
  void apply(Site site, FloatRows rows, int row = 0, int first_col = 0) const;
};

/// The final layer norm, with gain and bias, for rows of the residual stream: rows, out [n, d_model].
void final_layer_norm(const Weights& weights, ConstFloatRows rows, const EndOfPass& end, Workers& workers,
                      FloatRows out);

/// The same for positions [first, first + out.rows) of a run.
void final_layer_norm(const Weights& weights, const Run& run, int first, Workers& workers, FloatRows out);

}  // namespace headscope::model
