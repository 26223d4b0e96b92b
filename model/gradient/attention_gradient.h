#pragma once
#include <cstddef>
#include <functional>

#include "model/kernels/panels.h"
#include "model/kernels/view.h"
#include "model/pass/attention.h"
#include "model/pass/hooks.h"
#include "model/pass/run.h"

namespace headscope::model {

/// The derivatives with respect to one head's activations, each [T, d_head].
struct HeadGradients {
  ConstFloatRows z;   ///< from here
  FloatRows q, k, v;  ///< to these, which are overwritten
};

/// Called with the derivatives with respect to a block of the pattern or of the scores, as edits left them,
/// for all keys of the run. It may change them.
using CellsVisitor = std::function<void(const Activation2d& gradient)>;

/// The derivatives of one head's attention in a run, for blocks of queries in ascending order; the head's
/// pattern is recomputed block by block, and nothing of the size T x T is kept. Edits of its scores and
/// pattern count as in Plan::apply_gradient. `visit` (empty: nobody) sees the pattern's derivatives before
/// the scores', block by block; those of a pattern exist for keys that the query does not see as well, since
/// a weight there would act. scratch [attention_gradient_scratch(config)].
void attention_gradient(const PanelKernels& kernels, const Run& run, const HeadCache& head,
                        const HeadGradients& gradients, const CellsVisitor& visit, float* scratch);

/// Scratch memory for it, in floats.
std::size_t attention_gradient_scratch(const Config& config);

}  // namespace headscope::model
